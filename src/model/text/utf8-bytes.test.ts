import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryText } from '../../../test/builders/arbitrary-text.ts'
import { cutUtf8, utf8Bytes } from './utf8-bytes.ts'

test('utf8Bytes() gives the bytes that Node gives, for any text', () => {
  fc.assert(
    fc.property(arbitraryText(), (text) => {
      assert.deepEqual([...utf8Bytes(text)], [...Buffer.from(text, 'utf8')])
    }),
  )
  assert.deepEqual([...utf8Bytes('a\ud800b')], [0x61, 0xef, 0xbf, 0xbd, 0x62])
})

test('cutUtf8() keeps as many whole characters as fit', () => {
  fc.assert(
    fc.property(arbitraryText(), fc.nat(40), (text, maxBytes) => {
      const cut = cutUtf8(text, maxBytes)
      const rest = text.slice(cut.length)
      assert.ok(text.startsWith(cut) && Buffer.byteLength(cut) <= maxBytes)
      const next = rest === '' ? undefined : String.fromCodePoint(rest.codePointAt(0) ?? 0)
      if (next !== undefined) assert.ok(Buffer.byteLength(cut) + Buffer.byteLength(next) > maxBytes)
    }),
  )
})
