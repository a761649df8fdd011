import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { parseAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { DownwardAPIVolumeFile } from '../../../model/generated/core-v1.ts'
import { computeDownwardPayload } from './compute-downward-payload.ts'

const pod = createPod({
  metadata: {
    labels: { b: 'two "2"', a: 'one' },
    annotations: { 'x/y': 'line 1\nline 2', __proto__: 'odd' },
  },
  spec: {
    containers: [
      createContainer({ name: 'main', resources: { requests: { cpu: '250m' }, limits: { memory: '64Mi' } } }),
      createContainer({ name: 'other' }),
    ],
  },
})
const info = { pod, nodeAllocatable: parseAmounts({ cpu: '4', memory: '2Gi' }), defaultMode: 0o644 }
const field = (fieldPath: string) => ({ path: 'f', fieldRef: { apiVersion: 'v1', fieldPath } })
const resource = (containerName: string, name: string, divisor?: string) => ({
  path: 'f',
  resourceFieldRef: { containerName, resource: name, ...(divisor !== undefined && { divisor }) },
})

describe('computeDownwardPayload()', () => {
  const rows: readonly (readonly [name: string, item: DownwardAPIVolumeFile, text: string])[] = [
    ['name', field('metadata.name'), 'web'],
    ['namespace', field('metadata.namespace'), 'shop'],
    ['uid', field('metadata.uid'), 'u-1'],
    ['all labels, sorted and quoted', field('metadata.labels'), 'a="one"\nb="two \\"2\\""'],
    ['all annotations', field('metadata.annotations'), 'x/y="line 1\\nline 2"'],
    ['one label', field("metadata.labels['b']"), 'two "2"'],
    ['one annotation, as it is', field("metadata.annotations['x/y']"), 'line 1\nline 2'],
    ['a label that is not there', field("metadata.labels['toString']"), ''],
    ['a request', resource('main', 'requests.cpu', '1m'), '250'],
    ['a request, rounded up', resource('main', 'requests.cpu'), '1'],
    ['a limit', resource('main', 'limits.memory', '1Mi'), '64'],
    ['a limit that is not set is the node', resource('other', 'limits.memory', '1Gi'), '2'],
    ['a limit of cpu that is not set is the node', resource('other', 'limits.cpu'), '4'],
    ['a request that is not set', resource('other', 'requests.memory'), '0'],
  ]
  for (const [name, item, text] of rows)
    test(name, () => {
      const payload = computeDownwardPayload([item], info)
      assert.deepEqual(payload, new Map([['f', { content: new TextEncoder().encode(text), mode: 0o644 }]]))
    })

  test('an item may have a mode of its own', () => {
    const [[, file] = []] = computeDownwardPayload([{ ...field('metadata.name'), mode: 0o400 }], info)
    assert.equal(file?.mode, 0o400)
  })

  const failures: readonly (readonly [items: readonly DownwardAPIVolumeFile[], message: string])[] = [
    [[field('spec.nodeName')], 'unsupported fieldPath: spec.nodeName'],
    [[field('status.podIP')], 'unsupported fieldPath: status.podIP'],
    [[resource('', 'limits.cpu')], 'container  not found'],
    [[resource('third', 'limits.cpu')], 'container third not found'],
    [
      [field('spec.x'), field('metadata.name'), resource('third', 'limits.cpu'), field('spec.x')],
      '[unsupported fieldPath: spec.x, container third not found]',
    ],
  ]
  for (const [items, message] of failures)
    test(`fails with ${message}`, () => {
      assert.throws(() => computeDownwardPayload(items, info), { message })
    })
})
