import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { formatExactJson, parseExactJson } from './exact-json.ts'

describe('exact JSON', () => {
  test('keeps every integer, however large', () => {
    const text = '{"a":9007199254740993,"b":[-9223372036854775808, 12],"c":1.5,"d":1e300,"e":"12345678901234567890"}'
    assert.deepEqual(parseExactJson(text), {
      a: 9007199254740993n,
      b: [-9223372036854775808n, 12],
      c: 1.5,
      d: 1e300,
      e: '12345678901234567890',
    })
  })

  test('takes "__proto__" as a key like any other', () => {
    for (const number of ['1', '9007199254740993']) {
      const value = parseExactJson(`{"__proto__":{"a":${number}}}`) as object
      assert.deepEqual(Object.keys(value), ['__proto__'])
      assert.equal(Object.getPrototypeOf(value), Object.prototype)
    }
  })

  test('gives back what it was given', () => {
    const leaf = fc.oneof(fc.maxSafeNat(), fc.string(), fc.boolean(), fc.constant(null), fc.bigInt({ min: 2n ** 53n }))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('tree')),
        fc.dictionary(fc.string(), tie('tree'), { noNullPrototype: true }),
      ),
    }))
    fc.assert(fc.property(tree, (value) => assert.deepEqual(parseExactJson(formatExactJson(value)), value)))
  })
})
