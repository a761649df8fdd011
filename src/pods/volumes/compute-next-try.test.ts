import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeNextTry } from './compute-next-try.ts'
import type { NextTry } from './compute-next-try.ts'

test('computeNextTry() waits twice as long after each failure, up to a limit, and begins again for something else', () => {
  let next: NextTry<'mount' | 'unmount'> | undefined
  const delays = Array.from({ length: 11 }, () => {
    next = computeNextTry(next, { operation: 'mount', why: 'no' }, 1000)
    return next.at - 1000
  })
  assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000, 122_000])
  assert.deepEqual(computeNextTry(next, { operation: 'unmount', why: 'busy' }, 0), {
    operation: 'unmount',
    at: 500,
    delayMs: 500,
    why: 'busy',
  })
})
