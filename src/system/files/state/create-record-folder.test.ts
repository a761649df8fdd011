import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRecordFolder } from './create-record-folder.ts'

test('createRecordFolder() keeps small files to itself', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'records-'))
  t.after(() => rm(parent, { recursive: true }))
  const path = join(parent, 'image_manager', 'pulled')
  const folder = createRecordFolder(path)
  assert.deepEqual([await folder.names(), await folder.read('a')], [[], undefined])
  await folder.remove('a')

  await folder.write('a', 'one')
  await folder.write('a', 'two')
  await writeFile(join(path, 'b.tmp'), 'half')
  assert.deepEqual([await folder.names(), await folder.read('a')], [['a'], 'two'])
  const modes = [join(parent, 'image_manager'), path, join(path, 'a')].map(
    async (file) => (await stat(file)).mode & 0o777,
  )
  assert.deepEqual(await Promise.all(modes), [0o700, 0o700, 0o600])

  await mkdir(join(path, 'c'))
  await assert.rejects(folder.read('c'), /not a regular file$/)
  await folder.remove('a')
  await folder.remove('a')
  assert.equal(await folder.read('a'), undefined)
})

test('createRecordFolder() replaces and removes files, and keeps those that were set aside', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'records-'))
  t.after(() => rm(parent, { recursive: true }))
  const path = join(parent, 'deckhand', 'finished-pods')
  const folder = createRecordFolder(path)
  assert.deepEqual(await folder.names(), [])
  await folder.write('a.json', 'one')
  await folder.write('a.json', 'two')
  await folder.write('b.json', 'three')
  assert.deepEqual([(await readdir(path)).sort(), await folder.read('a.json')], [['a.json', 'b.json'], 'two'])
  await folder.setAside('b.json')
  await writeFile(join(path, 'a.json.new'), 'of a killed agent')
  await folder.remove('a.json')
  await folder.remove('a.json')
  assert.deepEqual([await folder.names(), await readdir(path)], [[], ['b.json.broken']])
  assert.equal(await readFile(join(path, 'b.json.broken'), 'utf8'), 'three')
})

test('createRecordFolder() does not wait for a pipe in place of a file', { timeout: 5000 }, async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'records-'))
  t.after(() => rm(path, { recursive: true }))
  execFileSync('mkfifo', [join(path, 'a.json')])
  await assert.rejects(createRecordFolder(path).read('a.json'), /Cannot read ".*a\.json"/)
})
