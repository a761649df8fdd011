import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../test/builders/create-pod.ts'
import { STATUS_NOW, STATUS_NOW_TEXT } from '../../test/builders/create-status-input.ts'
import type { PodCondition } from '../model/generated/core-v1.ts'
import { computeResizeCondition } from './compute-resize-condition.ts'
import type { ResizeInput } from './compute-resize-condition.ts'

const pod = createPod({
  metadata: { generation: 3 },
  spec: { containers: [createContainer({ resources: { requests: { cpu: '2' } } })] },
})
const allocated = new Map([['main', { requests: { cpu: '1' } }]])
const pending: PodCondition = {
  type: 'PodResizePending',
  status: 'True',
  reason: 'Infeasible',
  message: 'Resources are not changed in place: containers [main] get them when they start again',
  observedGeneration: 3,
  lastProbeTime: STATUS_NOW_TEXT,
  lastTransitionTime: STATUS_NOW_TEXT,
}
const earlier = { ...pending, observedGeneration: 2, lastProbeTime: 'then', lastTransitionTime: 'then' }

const rows: Readonly<Record<string, Partial<ResizeInput> & { readonly expected: PodCondition | undefined }>> = {
  'the container has what it asks for': { allocated: new Map(), expected: undefined },
  'it has the same in other words': {
    allocated: new Map([['main', { requests: { cpu: '2000m' } }]]),
    expected: undefined,
  },
  'it has less': { expected: pending },
  'it does not run': { observed: createObservedPod(), expected: undefined },
  'only something that cannot be resized differs': {
    allocated: new Map([['main', { requests: { cpu: '2', 'example.com/chip': '1' } }]]),
    expected: undefined,
  },
  'it was told before': { previous: [earlier], expected: earlier },
}

describe('computeResizeCondition()', () => {
  for (const [name, { expected, ...parts }] of Object.entries(rows)) {
    test(name, () => {
      const observed = createObservedPod({ containers: [createInstance()] })
      const input = { pod, observed, allocated, previous: [], now: STATUS_NOW, ...parts }
      assert.deepEqual(computeResizeCondition(input), expected)
    })
  }
})
