import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeIsSampled } from './compute-is-sampled.ts'

describe('computeIsSampled()', () => {
  const rows: readonly (readonly [last: string, rate: number, expected: boolean])[] = [
    ['ffffffffffffffff', 1_000_000, true],
    ['ffffffffffffffff', 999_999, false],
    ['0000000000000000', 0, false],
    ['0000000000000000', 1, true],
    ['7fffffffffffffff', 500_000, true],
    ['8000000000000000', 500_000, false],
  ]
  for (const [last, rate, expected] of rows) {
    test(`${last} at ${rate} of a million: ${expected}`, () =>
      assert.equal(computeIsSampled(`ffffffffffffffff${last}`, rate), expected))
  }
})
