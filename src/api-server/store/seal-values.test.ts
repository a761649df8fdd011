import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createValueSeal } from './seal-values.ts'

describe('createValueSeal()', () => {
  const seal = createValueSeal(randomBytes(32))

  test('opens what it sealed', () => {
    assert.equal(seal.open(seal.seal('{"password":"pässword"}', 'a'), 'a'), '{"password":"pässword"}')
  })

  test('shows nothing of the text, and the same text never twice alike', () => {
    const first = Buffer.from(seal.seal('password', 'a'))
    assert.equal(first.includes('password'), false)
    assert.notDeepEqual(first, seal.seal('password', 'a'))
  })

  test('does not open a value that was changed, moved or sealed with another key', () => {
    const sealed = seal.seal('text', 'a')
    const changed = Uint8Array.from(sealed)
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    assert.throws(() => seal.open(changed, 'a'))
    assert.throws(() => seal.open(sealed, 'b'))
    assert.throws(() => createValueSeal(randomBytes(32)).open(sealed, 'a'))
  })
})
