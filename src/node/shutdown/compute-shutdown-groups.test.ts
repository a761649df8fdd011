import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { computeShutdownGroups } from './compute-shutdown-groups.ts'
import { UNHURRIED_PERIODS } from './compute-shutdown-periods.ts'

const PERIODS = [
  { priority: 10, seconds: 5 },
  { priority: 100, seconds: 6 },
  { priority: 1000, seconds: 7 },
]

function pod(uid: string, priority: number | undefined, terminationGracePeriodSeconds: number | undefined) {
  return createPod({ metadata: { uid }, spec: { priority, terminationGracePeriodSeconds } })
}

/** As "priority seconds: uid grace, uid grace". */
function show(groups: ReturnType<typeof computeShutdownGroups>): readonly string[] {
  return groups.map(({ priority, seconds, pods }) => {
    const each = pods.map(({ pod: { metadata }, graceSeconds }) => `${metadata.uid} ${graceSeconds}`)
    return `${priority} ${seconds}: ${each.join(', ')}`
  })
}

describe('computeShutdownGroups()', () => {
  for (const [name, periods, pods, expected] of [
    ['no pod is here', PERIODS, [], []],
    [
      'below, at, between and above the priorities',
      PERIODS,
      [
        pod('none', undefined, 30),
        pod('below', 9, 30),
        pod('at', 10, 30),
        pod('between', 99, 30),
        pod('next', 100, 30),
        pod('last', 1000, 30),
        pod('above', 2_000_001_000, 30),
      ],
      ['10 5: none 5, below 5, at 5, between 5', '100 6: next 6', '1000 7: last 7, above 7'],
    ],
    [
      'a group without pods is left out',
      PERIODS,
      [pod('low', 10, 30), pod('high', 1000, 30)],
      ['10 5: low 5', '1000 7: high 7'],
    ],
    [
      'a pod that asks for less gets less, one that asks for nothing what its group gets',
      PERIODS,
      [pod('quick', 0, 2), pod('zero', 0, 0), pod('silent', 0, undefined)],
      ['10 5: quick 2, zero 0, silent 5'],
    ],
    [
      'without periods everybody gets what they ask for, critical pods last',
      UNHURRIED_PERIODS,
      [pod('critical', 2_000_000_000, 3), pod('slow', 5, 600)],
      ['0 undefined: slow 600', '2000000000 undefined: critical 3'],
    ],
  ] as const) {
    test(name, () => assert.deepEqual(show(computeShutdownGroups(periods, pods)), expected))
  }
})
