import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeBackOffEnd, computeNextBackOff, crashBackOffLimits } from './compute-crash-back-off.ts'
import type { CrashBackOff } from './compute-crash-back-off.ts'

const S = 1000

/** The waits of a container that runs for runMs and is started again as soon as it may be. */
function waits(maxMs: number, runMs: number, restarts: number): number[] {
  const limits = crashBackOffLimits(maxMs)
  let entry: CrashBackOff | undefined
  let now = 0
  return Array.from({ length: restarts }, () => {
    const finishedAt = now + runMs
    now = computeBackOffEnd(entry, finishedAt, finishedAt) ?? finishedAt
    entry = computeNextBackOff(entry, finishedAt, { limits, now })
    return (now - finishedAt) / S
  })
}

describe('the crash back-off', () => {
  test('starts at once, then waits 10 s, twice as long each time, at most 300 s', () => {
    assert.deepEqual(waits(300 * S, 1, 9), [0, 10, 20, 40, 80, 160, 300, 300, 300])
  })

  test('goes up to a lower ceiling', () => {
    assert.deepEqual(waits(60 * S, 1, 6), [0, 10, 20, 40, 60, 60])
  })

  test('begins with the ceiling when that is below 10 s', () => {
    assert.deepEqual(waits(1 * S, 1, 4), [0, 1, 1, 1])
  })

  test('never forgives a container that runs for 600 s', () => {
    assert.deepEqual(waits(300 * S, 600 * S, 4), [0, 10, 20, 40])
  })

  test('forgives each time a container that runs for longer', () => {
    assert.deepEqual(waits(300 * S, 600 * S + 1, 4), [0, 0, 0, 0])
  })

  test('forgives after 600 s whatever the ceiling is', () => {
    assert.deepEqual(waits(20 * S, 599 * S, 4), [0, 10, 20, 20])
    assert.deepEqual(waits(20 * S, 601 * S, 4), [0, 0, 0, 0])
  })

  test('counts from the end of the container, not from now', () => {
    const entry = { delayMs: 40 * S, lastStartAt: 0 }
    assert.equal(computeBackOffEnd(entry, 5 * S, 5 * S), 45 * S)
    assert.equal(computeBackOffEnd(entry, 5 * S, 45 * S - 1), 45 * S)
    assert.equal(computeBackOffEnd(entry, 5 * S, 45 * S), undefined)
  })

  test('starts from the beginning after forgiveness', () => {
    const entry = { delayMs: 300 * S, lastStartAt: 0 }
    const limits = crashBackOffLimits(300 * S)
    assert.deepEqual(computeNextBackOff(entry, 601 * S, { limits, now: 602 * S }), {
      delayMs: 10 * S,
      lastStartAt: 602 * S,
    })
  })
})
