import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiPodError, decodeApiPod } from './decode-api-pod.ts'

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
