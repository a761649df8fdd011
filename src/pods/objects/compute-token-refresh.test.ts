import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeTokenRefresh } from './compute-token-refresh.ts'

const HOUR = 3600
const rows: readonly (readonly [string, lifeSeconds: number, ageSeconds: number, chance: number, boolean])[] = [
  ['a new one', HOUR, 0, 0, false],
  ['one at four fifths of its life', HOUR, 2880, 0, false],
  ['one just after that', HOUR, 2881, 0, true],
  ['one shortly before, with the largest jitter', HOUR, 2871, 1, true],
  ['one before the largest jitter', HOUR, 2869, 1, false],
  ['one of a year after a day', 365 * 24 * HOUR, 24 * HOUR, 0, false],
  ['one of a year after more than a day', 365 * 24 * HOUR, 24 * HOUR + 1, 0, true],
  ['one of a year 9 s before a day, with the largest jitter', 365 * 24 * HOUR, 24 * HOUR - 9, 1, true],
  ['one that has ended', HOUR, HOUR + 1, 0, true],
]

describe('computeTokenRefresh()', () => {
  for (const [name, lifeSeconds, ageSeconds, chance, expected] of rows) {
    test(`${expected ? 'renews' : 'keeps'} ${name}`, () => {
      const token = { expiresAt: lifeSeconds * 1000, lifeSeconds }
      assert.equal(computeTokenRefresh(token, ageSeconds * 1000, chance), expected)
    })
  }
})
