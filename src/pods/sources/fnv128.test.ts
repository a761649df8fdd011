import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryText } from '../../../test/builders/arbitrary-text.ts'
import { fnv128 } from './fnv128.ts'

const PRIME = 2n ** 88n + 0x13bn
const BASIS = 0x6c62272e07bb014262b821756295c58dn

function slowly(text: string): string {
  let hash = BASIS
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * PRIME) % 2n ** 128n
  return hash.toString(16).padStart(32, '0')
}

test('fnv128() is FNV-1a of 128 bits', () => {
  assert.equal(fnv128(''), '6c62272e07bb014262b821756295c58d')
  assert.equal(fnv128('a'), 'd228cb696f1a8caf78912b704e4a8964')
  fc.assert(fc.property(arbitraryText(), (text) => fnv128(text) === slowly(text)))
})
