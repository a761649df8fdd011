import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largestOf, toSeconds } from './int64.ts'

test('toSeconds() cuts down what no timer could wait for', () => {
  const rows = [30, 0, -1, 2 ** 31 - 1, 2 ** 31, 2n ** 63n - 1n, -(2n ** 63n), 30n]
  assert.deepEqual(
    rows.map((value) => toSeconds(value)),
    [30, 0, -1, 2147483647, 2147483647, 2147483647, -2147483647, 30],
  )
})

test('largestOf() compares exactly', () => {
  assert.equal(largestOf([]), undefined)
  assert.equal(largestOf([undefined, 3, 2]), 3)
  assert.equal(largestOf([9007199254740993n, 9007199254740992n, 7, undefined]), 9007199254740993n)
})
