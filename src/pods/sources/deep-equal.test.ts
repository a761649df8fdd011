import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canonicalJson } from './canonical-json.ts'
import { deepEqual } from './deep-equal.ts'

test('deepEqual() agrees with Node and with canonicalJson() on JSON values', () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each)) as unknown)
  fc.assert(
    fc.property(value, value, (left, right) => {
      assert.equal(deepEqual(left, right), isDeepStrictEqual(left, right))
      assert.equal(deepEqual(left, structuredClone(left)), true)
      assert.equal(canonicalJson(left) === canonicalJson(right), deepEqual(left, right))
    }),
  )
})

test('deepEqual() takes an undefined member as absent', () => {
  assert.equal(deepEqual({ a: 1, b: undefined }, { a: 1 }), true)
  assert.equal(deepEqual({ a: 1 }, { a: 1, b: undefined }), true)
  assert.equal(deepEqual({ a: 1 }, { a: 1, b: null }), false)
  assert.equal(deepEqual([1], { 0: 1 }), false)
})
