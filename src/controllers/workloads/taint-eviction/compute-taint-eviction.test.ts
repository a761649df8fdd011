import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Taint, Toleration } from '../../../model/generated/core-v1.ts'
import { computeTaintEviction } from './compute-taint-eviction.ts'
import type { EvictionInput, EvictionStep } from './compute-taint-eviction.ts'

const NOW = 1_000_000
const bad: Taint = { key: 'bad', value: 'very', effect: 'NoExecute' }
const worse: Taint = { key: 'worse', effect: 'NoExecute' }
const tolerates = (key: string, tolerationSeconds?: number | bigint): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
})

const stays: EvictionStep = { kind: 'stay', isCancelled: false }
const staysAfterAll: EvictionStep = { kind: 'stay', isCancelled: true }
const leaves: EvictionStep = { kind: 'evict', isCancelled: false }
const leavesEarlier: EvictionStep = { kind: 'evict', isCancelled: true }
const waits = (ms: number): EvictionStep => ({ kind: 'wait', dueAt: NOW + ms })

type Row = readonly [title: string, input: Partial<EvictionInput>, expected: EvictionStep]

const unscheduled: readonly Row[] = [
  ['no taints', {}, stays],
  ['taints of other effects', { taints: [{ key: 'a', effect: 'NoSchedule' }] }, stays],
  ['no toleration', { taints: [bad] }, leaves],
  ['a toleration of another key', { taints: [bad], tolerations: [tolerates('worse')] }, leaves],
  ['a toleration of another value', { taints: [bad], tolerations: [{ key: 'bad', value: 'a bit' }] }, leaves],
  ['a toleration of the value', { taints: [bad], tolerations: [{ key: 'bad', value: 'very' }] }, stays],
  [
    'a toleration of another effect',
    { taints: [bad], tolerations: [{ ...tolerates('bad'), effect: 'NoSchedule' }] },
    leaves,
  ],
  ['a toleration of everything', { taints: [bad, worse], tolerations: [{ operator: 'Exists' }] }, stays],
  ['a toleration for a time', { taints: [bad], tolerations: [tolerates('bad', 300)] }, waits(300_000)],
  ['a toleration for no time', { taints: [bad], tolerations: [tolerates('bad', 0)] }, leaves],
  ['a toleration for less than no time', { taints: [bad], tolerations: [tolerates('bad', -5)] }, leaves],
  [
    'a toleration for longer than any timer',
    { taints: [bad], tolerations: [tolerates('bad', 2n ** 63n - 1n)] },
    waits((2 ** 31 - 1) * 1000),
  ],
  ['one of two taints tolerated', { taints: [bad, worse], tolerations: [tolerates('bad', 9)] }, leaves],
  [
    'two taints tolerated for different times',
    { taints: [bad, worse], tolerations: [tolerates('bad', 9), tolerates('worse', 5)] },
    waits(5000),
  ],
  [
    'two taints tolerated, one of them for ever',
    { taints: [bad, worse], tolerations: [tolerates('bad', 9), tolerates('worse')] },
    waits(9000),
  ],
  [
    'two tolerations of one taint: the first counts',
    { taints: [bad], tolerations: [tolerates('bad', 9), tolerates('bad', 5)] },
    waits(9000),
  ],
  [
    'a toleration that no taint needs',
    { taints: [bad], tolerations: [tolerates('bad'), tolerates('worse', 5)] },
    stays,
  ],
  ['a pod that is being deleted', { taints: [bad], isLeaving: true }, stays],
]

const scheduled: readonly Row[] = [
  ['its time is not over', { taints: [bad], tolerations: [tolerates('bad', 9)] }, waits(4000)],
  ['its time is over', { taints: [bad], tolerations: [tolerates('bad', 9)], dueAt: NOW }, leaves],
  ['the taint went', {}, staysAfterAll],
  ['it tolerates the taint for ever now', { taints: [bad], tolerations: [tolerates('bad')] }, staysAfterAll],
  ['a longer toleration changes nothing', { taints: [bad], tolerations: [tolerates('bad', 100)] }, waits(4000)],
  ['a shorter toleration changes nothing', { taints: [bad], tolerations: [tolerates('bad', 1)] }, waits(4000)],
  [
    'another taint that is tolerated for a time changes nothing',
    { taints: [bad, worse], tolerations: [tolerates('bad', 9), tolerates('worse', 1)] },
    waits(4000),
  ],
  ['another taint that is not tolerated', { taints: [bad, worse], tolerations: [tolerates('bad', 9)] }, leavesEarlier],
  ['it is being deleted', { taints: [bad], tolerations: [tolerates('bad', 9)], isLeaving: true }, staysAfterAll],
]

describe('computeTaintEviction()', () => {
  const given = { tolerations: undefined, taints: undefined, isLeaving: false, now: NOW }
  for (const [title, input, expected] of unscheduled)
    test(title, () => {
      assert.deepEqual(computeTaintEviction({ ...given, dueAt: undefined, ...input }), expected)
    })
  for (const [title, input, expected] of scheduled)
    test(`a pod that waits: ${title}`, () => {
      assert.deepEqual(computeTaintEviction({ ...given, dueAt: NOW + 4000, ...input }), expected)
    })
})
