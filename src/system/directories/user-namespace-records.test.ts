import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createUserNamespaceRecords } from './user-namespace-records.ts'

describe('createUserNamespaceRecords()', () => {
  let root: string
  let records: ReturnType<typeof createUserNamespaceRecords>
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'userns-'))
    records = createUserNamespaceRecords(root)
  })
  afterEach(() => rm(root, { recursive: true }))

  test('writes a file that only root reads, and finds it again', async () => {
    await records.write('u-1', 'one')
    await records.write('u-1', 'two')
    await mkdir(join(root, 'pods', 'u-2'))
    await writeFile(join(root, 'pods', 'stray'), '')
    assert.deepEqual(await records.readAll(), [{ uid: 'u-1', text: 'two' }])
    assert.equal((await stat(join(root, 'pods/u-1/userns'))).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(join(root, 'pods/u-1')), ['userns'])
  })

  for (const [code, expected] of [
    ['EMFILE', undefined],
    ['EIO', [{ uid: 'u-1', text: '' }]],
  ] as const)
    test(`${expected === undefined ? 'fails' : 'has a record that says nothing'} when one cannot be read (${code})`, async () => {
      await records.write('u-1', 'one')
      const fail = () => Promise.reject(Object.assign(new Error(code), { code }))
      const reading = createUserNamespaceRecords(root, fail).readAll()
      if (expected === undefined) await assert.rejects(reading, { code })
      else assert.deepEqual(await reading, expected)
      assert.deepEqual(await records.readAll(), [{ uid: 'u-1', text: 'one' }])
    })

  test('has none before the first pod', async () => assert.deepEqual(await records.readAll(), []))

  test('sets one aside that makes no sense, and removes all of it with the pod', async () => {
    await records.write('u-1', 'odd')
    await records.setAside('u-1')
    assert.deepEqual(await records.readAll(), [])
    assert.equal(await readFile(join(root, 'pods/u-1/userns.corrupt'), 'utf8'), 'odd')
    await records.write('u-1', 'good')
    await records.remove('u-1')
    await records.remove('u-1')
    assert.deepEqual(await readdir(join(root, 'pods/u-1')), [])
  })
})
