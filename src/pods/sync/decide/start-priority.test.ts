import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../../model/pod/pod.ts'
import { createObservedContainer, createObservedPod } from '../../../../test/component/create-pod-deps.ts'
import { isCrashing, startPriority } from './start-priority.ts'

test('startPriority() puts what is begun first, then critical pods, then by priority', () => {
  const plain = createPod()
  const high = createPod({ spec: { priority: 1000 } })
  const low = createPod({ spec: { priority: -10 } })
  const fixed = createPod({ metadata: { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } } })
  const system = createPod({ spec: { priority: 2_000_001_000 } })
  const order = [
    startPriority(system, 'container'),
    startPriority(low, 'container'),
    startPriority(system, 'sandbox'),
    startPriority(fixed, 'sandbox'),
    startPriority(high, 'sandbox'),
    startPriority(plain, 'sandbox'),
    startPriority(low, 'sandbox'),
  ]
  assert.deepEqual(
    [...order].sort((a, b) => b - a),
    order,
  )
  assert.equal(new Set(order).size, order.length)
})

test('startPriority() gives a crashing container no precedence over a pod that has not begun', () => {
  const [plain, high] = [createPod(), createPod({ spec: { priority: 1000 } })]
  assert.equal(startPriority(plain, 'crashing container'), startPriority(plain, 'sandbox'))
  assert.ok(startPriority(high, 'crashing container') > startPriority(plain, 'sandbox'))
})

test('isCrashing() is true when the last instance ended soon after its start', () => {
  const isCrashingAfter = (ranMs: number, state: 'exited' | 'running' = 'exited') => {
    const container = createObservedContainer({ name: 'main', state, startedAt: 1000, finishedAt: 1000 + ranMs })
    return isCrashing(createObservedPod({ containers: [container] }), 'main')
  }
  assert.deepEqual([isCrashingAfter(0), isCrashingAfter(9999), isCrashingAfter(10_000)], [true, true, false])
  assert.equal(isCrashingAfter(0, 'running'), false)
  assert.equal(isCrashing(createObservedPod(), 'other'), false)
})
