import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { sameValue } from '../../base/document/same-value.ts'
import { canonicalJson } from './canonical-json.ts'

test('canonicalJson() is the same for equal values alone', () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each)) as unknown)
  fc.assert(
    fc.property(value, value, (left, right) => {
      assert.equal(canonicalJson(left) === canonicalJson(right), sameValue(left, right))
    }),
  )
  assert.equal(canonicalJson({ b: 1, a: undefined }), '{"b":1}')
})
