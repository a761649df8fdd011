import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { sameValue } from './same-value.ts'

describe('sameValue()', () => {
  const rows: readonly (readonly [string, unknown, unknown, boolean])[] = [
    ['equal scalars', 1, 1, true],
    ['a number and its text', 1, '1', false],
    ['fields in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['an undefined field', { a: 1, b: undefined }, { a: 1 }, true],
    ['a null field', { a: null }, {}, false],
    ['lists in another order', [1, 2], [2, 1], false],
    ['a list and an object', [], {}, false],
    ['a difference far inside', { a: [{ b: { c: 1 } }] }, { a: [{ b: { c: 2 } }] }, false],
    ['a key called as the prototype', JSON.parse('{"__proto__":1}'), {}, false],
  ]
  for (const [name, a, b, expected] of rows) {
    test(name, () => {
      assert.equal(sameValue(a, b), expected)
      assert.equal(sameValue(b, a), expected)
    })
  }

  test('agrees with Node on JSON values', () => {
    const value = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each)) as unknown)
    fc.assert(
      fc.property(value, value, (left, right) => {
        assert.equal(sameValue(left, right), isDeepStrictEqual(left, right))
        assert.equal(sameValue(left, structuredClone(left)), true)
      }),
    )
  })
})
