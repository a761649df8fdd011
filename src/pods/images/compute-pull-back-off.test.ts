import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computePullBackOff, isBackingOff, isForgotten } from './compute-pull-back-off.ts'
import type { PullBackOff } from './compute-pull-back-off.ts'

const why = { reason: 'ErrImagePull', message: 'no' }

describe('computePullBackOff()', () => {
  test('doubles the wait from 10 s to 300 s', () => {
    const delays: number[] = []
    let entry: PullBackOff | undefined
    let now = 0
    for (let failure = 0; failure < 7; failure += 1) {
      entry = computePullBackOff(entry, { ...why, waitedSince: now }, now)
      delays.push(entry.delayMs / 1000)
      now += entry.delayMs
    }
    assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300])
  })

  const known: PullBackOff = { ...why, failedAt: 1000, delayMs: 40_000 }

  test('keeps the newest reason', () => {
    const failure = { reason: 'RegistryUnavailable', message: 'away', waitedSince: 50_000 }
    assert.deepEqual(computePullBackOff(known, failure, 51_000), {
      failedAt: 51_000,
      delayMs: 80_000,
      reason: 'RegistryUnavailable',
      message: 'away',
    })
  })

  test('counts the failure of a pull once for all that waited for it', () => {
    assert.equal(computePullBackOff(known, { ...why, waitedSince: 500 }, 1000), known)
    assert.equal(computePullBackOff(known, { ...why, waitedSince: 1000 }, 1000), known)
  })

  test('begins again after ten minutes', () => {
    const at = (now: number) => computePullBackOff(known, { ...why, waitedSince: now }, now).delayMs
    assert.deepEqual([at(601_000), at(601_001)], [80_000, 10_000])
    assert.deepEqual([isForgotten(known, 601_000), isForgotten(known, 601_001)], [false, true])
  })

  test('lets the next pull go when the wait is over', () => {
    assert.deepEqual([isBackingOff(known, 40_999), isBackingOff(known, 41_000)], [true, false])
  })
})
