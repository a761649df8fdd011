import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { execFileSync } from 'node:child_process'
import { createJournalFolder } from './journal-folder.ts'

test('a journal folder keeps, replaces, sets aside and removes files', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'journal-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'deckhand', 'finished-pods')
  const files = createJournalFolder(folder)
  assert.deepEqual(await files.list(), [])
  await files.write('a.json', 'one')
  await files.write('a.json', 'two')
  await files.write('b.json', 'three')
  assert.deepEqual([readdirSync(folder).sort(), await files.read('a.json')], [['a.json', 'b.json'], 'two'])
  assert.equal(statSync(join(folder, 'a.json')).mode & 0o777, 0o600)
  await files.setAside('b.json')
  await files.remove('a.json')
  await files.remove('a.json')
  assert.deepEqual(await files.list(), ['b.json.broken'])
  assert.equal(readFileSync(join(folder, 'b.json.broken'), 'utf8'), 'three')
})

test('a journal folder does not wait for a pipe in place of a file', { timeout: 5000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'journal-'))
  t.after(() => rmSync(root, { recursive: true }))
  execFileSync('mkfifo', [join(root, 'a.json')])
  await assert.rejects(createJournalFolder(root).read('a.json'), /Cannot read ".*a\.json"/)
})
