import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countMissedPeriods, longestGap } from './probe-periods.ts'

const window = { from: 0, to: 5000, periodMs: 1000 }

describe('countMissedPeriods() and longestGap()', () => {
  const rows: readonly (readonly [name: string, times: readonly number[], missed: number, gap: number])[] = [
    ['on time', [500, 1500, 2500, 3500, 4500], 0, 1000],
    ['in any order, a little late', [500, 3500, 1900, 2500, 4500], 0, 1400],
    ['one left out', [500, 1500, 3500, 4500], 1, 2000],
    ['the end left out', [500, 1500, 2500], 2, 2500],
    ['all left out', [], 4, 5000],
  ]
  for (const [name, times, missed, gap] of rows) {
    test(name, () => assert.deepEqual([countMissedPeriods(times, window), longestGap(times, window)], [missed, gap]))
  }
})
