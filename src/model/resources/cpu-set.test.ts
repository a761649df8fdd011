import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { formatCpuSet, parseCpuSet } from './cpu-set.ts'

describe('parseCpuSet()', () => {
  for (const [text, cpus] of [
    ['', []],
    ['0', [0]],
    ['2,0-1', [0, 1, 2]],
    ['0-2, 2-3', [0, 1, 2, 3]],
    ['0-3,8', [0, 1, 2, 3, 8]],
    ['2-2,5-6', [2, 5, 6]],
  ] as const) {
    test(`reads "${text}"`, () => assert.deepEqual(parseCpuSet(text), cpus))
  }
  for (const text of ['a', '1-', '-1', '3-1', '1,,2', '0-99999', '0:3']) {
    test(`refuses "${text}"`, () => assert.throws(() => parseCpuSet(text), /^Error: Cannot read CPU list/))
  }
})

describe('formatCpuSet()', () => {
  for (const [cpus, text] of [
    [[], ''],
    [[3], '3'],
    [[1, 0], '0-1'],
    [[8, 0, 2, 1, 5, 8], '0-2,5,8'],
  ] as const) {
    test(`writes ${JSON.stringify(cpus)}`, () => assert.equal(formatCpuSet(cpus), text))
  }

  test('is read again as what it was', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 300 })), (cpus) => {
        const sorted = cpus.toSorted((a, b) => a - b)
        assert.deepEqual(parseCpuSet(formatCpuSet(new Set(cpus))), sorted)
      }),
    )
  })
})
