import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { utf8Bytes } from './utf8-bytes.ts'

test('utf8Bytes() gives the bytes that Node gives, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.deepEqual([...utf8Bytes(text)], [...Buffer.from(text, 'utf8')])
    }),
  )
  assert.deepEqual([...utf8Bytes('a\ud800b')], [0x61, 0xef, 0xbf, 0xbd, 0x62])
})
