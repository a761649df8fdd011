import assert from 'node:assert/strict'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { ensurePrivateFile, restrictMode } from './restrict-mode.ts'

test('restrictMode() takes away what goes beyond the mode, and gives nothing', async () => {
  const path = join(makeTemporaryFolder(), 'file')
  await restrictMode(path, 0o600)
  await writeFile(path, '')
  for (const [before, after] of [
    [0o644, 0o600],
    [0o600, 0o600],
    [0o400, 0o400],
    [0o4755, 0o600],
  ] as const) {
    await chmod(path, before)
    await restrictMode(path, 0o600)
    assert.equal((await stat(path)).mode & 0o7777, after)
  }
})

test('ensurePrivateFile() makes a file for its owner, and keeps the content of one that is there', async () => {
  const path = join(makeTemporaryFolder(), 'file')
  await ensurePrivateFile(path)
  assert.equal((await stat(path)).mode & 0o7777, 0o600)
  await writeFile(path, 'kept')
  await chmod(path, 0o644)
  await ensurePrivateFile(path)
  assert.deepEqual([(await stat(path)).mode & 0o7777, await readFile(path, 'utf8')], [0o600, 'kept'])
})
