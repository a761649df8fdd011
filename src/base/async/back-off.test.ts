import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BackOff, computeBackOff, computeNextWait } from './back-off.ts'

const LIMITS = { firstMs: 100, longestMs: 700 }

describe('computeBackOff()', () => {
  test('doubles up to the longest wait, after any number of failures', () => {
    const waits = [0, 1, 2, 3, 4, 5, 10_000].map((failures) => computeBackOff(LIMITS, failures))
    assert.deepEqual(waits, [100, 100, 200, 400, 700, 700, 700])
  })

  test('grows by another factor', () => {
    const waits = [1, 2, 3].map((failures) => computeBackOff({ ...LIMITS, factor: 1.5 }, failures))
    assert.deepEqual(waits, [100, 150, 225])
  })

  test('spreads waits by chance, the longest one too', () => {
    const limits = { ...LIMITS, jitter: { least: 0.5, extra: 0.5 } }
    assert.deepEqual(
      [0, 0.5, 1].map((chance) => computeBackOff(limits, 4, chance)),
      [350, 525, 700],
    )
  })
})

test('computeNextWait() goes by the last wait', () => {
  assert.deepEqual(
    [undefined, 100, 300, 400, 700].map((lastMs) => computeNextWait(LIMITS, lastMs)),
    [100, 200, 600, 700, 700],
  )
})

test('BackOff counts failures until it is reset', () => {
  const backOff = new BackOff({ ...LIMITS, jitter: { least: 1, extra: 1 } }, () => 0.5)
  assert.deepEqual([backOff.next(), backOff.next(), backOff.next(), backOff.next()], [150, 300, 600, 1050])
  backOff.reset()
  assert.equal(backOff.next(), 150)
})
