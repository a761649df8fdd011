import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../../model/pod/pod.ts'
import { startPriority } from './start-priority.ts'

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
