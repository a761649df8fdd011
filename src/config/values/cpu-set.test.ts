import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCpuSet } from './cpu-set.ts'

describe('parseCpuSet()', () => {
  for (const [text, cpus] of [
    ['', []],
    ['0', [0]],
    ['2,0-1', [0, 1, 2]],
    ['0-2, 2-3', [0, 1, 2, 3]],
  ] as const) {
    test(`reads "${text}"`, () => assert.deepEqual(parseCpuSet(text), cpus))
  }
  for (const text of ['a', '1-', '-1', '3-1', '1,,2', '0-99999', '0:3']) {
    test(`refuses "${text}"`, () => assert.throws(() => parseCpuSet(text), /^Error: Cannot read CPU list/))
  }
})
