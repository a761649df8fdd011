import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiPodError, decodeAnyApiPod, decodeApiPod } from './decode-api-pod.ts'

const metadata = { name: 'web', namespace: 'shop', uid: 'u-1', resourceVersion: '7' }
const container = { name: 'main', image: 'registry.test/app:1' }

describe('decodeApiPod()', () => {
  test('takes a pod as the API has it, without what is never read', () => {
    const { pod, unknownFields } = decodeApiPod({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, managedFields: [{ manager: 'kubectl' }] },
      spec: { containers: [container], ephemeralContainers: [{ ...container, name: 'debug' }], newest: true },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null }] },
    })
    assert.deepEqual(pod.metadata, metadata)
    assert.deepEqual(pod.status, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
    assert.equal(pod.spec.restartPolicy, 'Always', 'what an API leaves out is filled')
    assert.deepEqual(unknownFields, ['spec.newest'])
  })

  const rows: readonly (readonly [string, unknown, string])[] = [
    ['no object', 'pod', 'a map of fields'],
    ['a wrong type', { metadata, spec: { containers: 'none' } }, 'spec.containers'],
    ['no name', { metadata: { ...metadata, name: undefined }, spec: { containers: [] } }, 'metadata.name'],
    ['a UID that is a path', { metadata: { ...metadata, uid: '../x' }, spec: { containers: [] } }, 'metadata.uid'],
    ['a namespace that is a path', { metadata: { ...metadata, namespace: '..' } }, 'metadata.namespace'],
    ['a container that is a path', { metadata, spec: { containers: [{ ...container, name: 'a/b' }] } }, '"a/b"'],
    ['a volume that is a path', { metadata, spec: { containers: [], volumes: [{ name: '..' }] } }, 'the volume ".."'],
  ]
  for (const [name, object, problem] of rows) {
    test(`refuses ${name}`, () => {
      assert.throws(
        () => decodeApiPod(object),
        (error) => error instanceof ApiPodError && error.message.includes(problem),
      )
    })
  }
})

describe('decodeAnyApiPod()', () => {
  const deleted = { ...metadata, deletionTimestamp: '2026-01-31T12:00:00Z', deletionGracePeriodSeconds: 30 }

  test('keeps what can be read of a pod that cannot', () => {
    const status = { phase: 'Running' }
    const { pod } = decodeAnyApiPod({ metadata: deleted, spec: { containers: 'none' }, status })
    assert.deepEqual([pod.metadata, pod.spec, pod.status], [deleted, { containers: [] }, status])
    assert.match(pod.unreadable ?? '', /^Cannot use the pod "shop\/web" of the API: spec\.containers: /)
  })

  test('knows that a pod is to go, whatever else cannot be read', () => {
    const { pod } = decodeAnyApiPod({ metadata: { ...deleted, labels: [], annotations: 1 }, spec: 7, status: 'none' })
    assert.deepEqual([pod.metadata, pod.status], [deleted, undefined])
    assert.match(pod.unreadable ?? '', /metadata\.labels: .*; metadata\.annotations: .*; spec: .*; status: /)
  })

  test('names no more problems than a message can hold', () => {
    const containers = Array.from({ length: 9 }, () => ({ name: 1 }))
    assert.match(decodeAnyApiPod({ metadata, spec: { containers } }).pod.unreadable ?? '', /; and 4 more$/)
  })

  test('refuses what has no identity', () => {
    for (const object of [null, 'pod', {}, { metadata: { ...metadata, name: '../x' } }])
      assert.throws(() => decodeAnyApiPod(object), ApiPodError)
  })
})
