import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRecordFolder } from './record-folder.ts'

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
