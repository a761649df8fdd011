import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { computeDeletionOrder } from './compute-deletion-order.ts'

const now = Date.UTC(2026, 0, 2)
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString()
const ready = (seconds: number) => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago(seconds) }],
})
const cost = (value: string) => ({ 'controller.kubernetes.io/pod-deletion-cost': value })
const restarts = (restartCount: number) => ({
  ...ready(60),
  containerStatuses: [{ name: 'c', image: '', imageID: '', ready: true, restartCount }],
})

describe('computeDeletionOrder()', () => {
  // The first of each pair goes before the second.
  const rows: readonly (readonly [string, Live<Pod>, Live<Pod>])[] = [
    [
      'without a node',
      livePod({ name: 'b' }, ready(9), { nodeName: '' }),
      livePod({ name: 'a' }, { phase: 'Pending' }),
    ],
    ['pending', livePod({ name: 'b' }, { phase: 'Pending' }), livePod({ name: 'a' }, { phase: 'Running' })],
    ['not ready', livePod({ name: 'b' }, { phase: 'Running' }), livePod({ name: 'a' }, ready(1))],
    ['cheaper', livePod({ name: 'b', annotations: cost('-1') }, ready(1000)), livePod({ name: 'a' }, ready(1))],
    ['ready for a shorter time', livePod({ name: 'b' }, ready(1)), livePod({ name: 'a' }, ready(1000))],
    ['of the same age, by UID', livePod({ name: 'a' }, ready(60)), livePod({ name: 'b' }, ready(61))],
    ['restarted more often', livePod({ name: 'b' }, restarts(3)), livePod({ name: 'a' }, restarts(1))],
    [
      'younger',
      livePod({ name: 'b', creationTimestamp: ago(1) }, { phase: 'Pending' }),
      livePod({ name: 'a', creationTimestamp: ago(1000) }, { phase: 'Pending' }),
    ],
  ]
  for (const [name, first, second] of rows) {
    test(name, () => {
      for (const pods of [
        [first, second],
        [second, first],
      ])
        assert.deepEqual(computeDeletionOrder(pods, { now }), [first, second])
    })
  }

  test('a Job looks at neither cost nor rough ages', () => {
    const old = livePod({ name: 'a', annotations: cost('-5') }, ready(61))
    const young = livePod({ name: 'b' }, ready(60))
    assert.deepEqual(computeDeletionOrder([old, young], { now, isPlain: true }), [young, old])
  })
})
