import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeShutdownPeriods, type ShutdownConfiguration } from './compute-shutdown-periods.ts'

const NOTHING: ShutdownConfiguration = {
  shutdownGracePeriod: 0,
  shutdownGracePeriodCriticalPods: 0,
  shutdownGracePeriodByPodPriority: [],
}

describe('computeShutdownPeriods()', () => {
  for (const [name, config, expected] of [
    ['nothing is asked for', {}, []],
    [
      'a part of the time is for critical pods',
      { shutdownGracePeriod: 30_000, shutdownGracePeriodCriticalPods: 10_000 },
      [
        { priority: 0, seconds: 20 },
        { priority: 2_000_000_000, seconds: 10 },
      ],
    ],
    [
      'no part of it is',
      { shutdownGracePeriod: 30_500 },
      [
        { priority: 0, seconds: 30 },
        { priority: 2_000_000_000, seconds: 0 },
      ],
    ],
    [
      'priorities come in any order',
      {
        shutdownGracePeriodByPodPriority: [
          { priority: 1000, shutdownGracePeriodSeconds: 5n },
          { priority: -5, shutdownGracePeriodSeconds: 7 },
        ],
      },
      [
        { priority: -5, seconds: 7 },
        { priority: 1000, seconds: 5 },
      ],
    ],
  ] as const) {
    test(name, () => assert.deepEqual(computeShutdownPeriods({ ...NOTHING, ...config }), expected))
  }
})
