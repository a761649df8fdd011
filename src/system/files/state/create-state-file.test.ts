import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStateFile } from './create-state-file.ts'

test('createStateFile() keeps a text that only root reads, and sets a broken one aside', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'state-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'cpu_manager_state')
  const file = createStateFile(path, { now: () => 7 })
  assert.equal(await file.read(), undefined)
  await file.write('one')
  await file.write('two')
  assert.deepEqual([await file.read(), (await stat(path)).mode & 0o777], ['two', 0o600])
  assert.equal(await file.setAside(), `${path}.broken-7`)
  assert.deepEqual([await file.read(), await readdir(folder)], [undefined, ['cpu_manager_state.broken-7']])
})

test('createStateFile() sets a folder in its place aside, and writes again', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'state-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'cpu_manager_state')
  const file = createStateFile(path, { now: () => 7 })
  await mkdir(join(path, 'inner'), { recursive: true })
  await assert.rejects(file.read(), { code: 'EISDIR' })
  await file.setAside()
  await file.write('one')
  assert.deepEqual([await file.read(), await readdir(`${path}.broken-7`)], ['one', ['inner']])
})
