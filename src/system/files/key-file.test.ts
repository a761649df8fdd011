import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { readOrCreateKey } from './key-file.ts'

function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'a.key')
}

describe('readOrCreateKey()', () => {
  test('makes a key that only its owner can read, and finds it again', async (t) => {
    const path = place(t)
    const key = await readOrCreateKey(path, 32)
    assert.equal(key.length, 32)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(Buffer.from(await readOrCreateKey(path, 32)), Buffer.from(key))
  })

  test('refuses a key that others may read', async (t) => {
    const path = place(t)
    await readOrCreateKey(path, 32)
    chmodSync(path, 0o644)
    await assert.rejects(readOrCreateKey(path, 32), /others may read it/)
  })

  test('refuses a key of another length, which a half written one would have', async (t) => {
    const path = place(t)
    writeFileSync(path, 'short', { mode: 0o600 })
    await assert.rejects(readOrCreateKey(path, 32), /it has 5 bytes, expected 32/)
  })
})
