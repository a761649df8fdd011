import assert from 'node:assert/strict'
import * as nodeFiles from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { makeFolder, removeFileDurably, renameDurably, writeFileDurably } from './durable-file.ts'
import type { DurableFileCalls } from './durable-file.ts'

/** The real file system, with a journal of its calls; the one that `fails` names throws instead of being made. */
class WatchedFiles implements DurableFileCalls {
  readonly calls: string[] = []
  readonly #fails: string | undefined
  readonly #code: string

  constructor(fails?: string, code = 'EIO') {
    this.#fails = fails
    this.#code = code
  }

  readonly mkdir = (async (path: string, options: { mode: number }) =>
    await this.#do(`mkdir ${basename(path)}`, () => nodeFiles.mkdir(path, options))) as DurableFileCalls['mkdir']
  readonly stat = nodeFiles.stat
  readonly rename = (async (from: string, to: string) =>
    await this.#do(`rename ${basename(from)} ${basename(to)}`, () =>
      nodeFiles.rename(from, to),
    )) as DurableFileCalls['rename']
  readonly unlink = (async (path: string) =>
    await this.#do(`unlink ${basename(path)}`, () => nodeFiles.unlink(path))) as DurableFileCalls['unlink']
  readonly open = (async (path: string, flags: string, mode?: number) => {
    const name = basename(path)
    const handle = await this.#do(`open ${name} ${flags}`, () => nodeFiles.open(path, flags, mode))
    return {
      chmod: async (to: number) => await this.#do(`chmod ${name}`, () => handle.chmod(to)),
      writeFile: async (content: string) => {
        // Half of it is there when it fails.
        if (this.#fails === `write ${name}`) await handle.writeFile('ha')
        await this.#do(`write ${name}`, () => handle.writeFile(content))
      },
      sync: async () => await this.#do(`sync ${name}`, () => handle.sync()),
      [Symbol.asyncDispose]: () => handle.close(),
    } as unknown as FileHandle
  }) as DurableFileCalls['open']

  async #do<T>(call: string, act: () => Promise<T>): Promise<T> {
    this.calls.push(call)
    if (call === this.#fails) throw Object.assign(new Error(`${call} failed`), { code: this.#code })
    return await act()
  }
}

async function makePlace(t: TestContext): Promise<{ readonly folder: string; readonly path: string }> {
  const parent = await nodeFiles.mkdtemp(join(tmpdir(), 'durable-'))
  t.after(() => nodeFiles.rm(parent, { recursive: true }))
  const folder = join(parent, 'state')
  await nodeFiles.mkdir(folder)
  return { folder, path: join(folder, 'a') }
}

describe('writeFileDurably()', () => {
  test('syncs the file before it gets its name, and the folder after that', async (t) => {
    const { folder, path } = await makePlace(t)
    await nodeFiles.writeFile(path, 'old')
    const files = new WatchedFiles()
    await writeFileDurably(path, 'new', { mode: 0o600 }, files)
    assert.deepEqual(files.calls, [
      'open a.new wx',
      'chmod a.new',
      'write a.new',
      'sync a.new',
      'rename a.new a',
      'open state r',
      'sync state',
    ])
    assert.equal(await nodeFiles.readFile(path, 'utf8'), 'new')
    assert.deepEqual(await nodeFiles.readdir(folder), ['a'])
  })

  test('syncs the folders above one that it makes', async (t) => {
    const { folder } = await makePlace(t)
    const files = new WatchedFiles()
    await writeFileDurably(join(folder, 'b/c/d'), 'new', { folderMode: 0o700 }, files)
    assert.deepEqual(
      files.calls.filter((call) => /mkdir|sync/.test(call)),
      ['mkdir c', 'mkdir b', 'sync state', 'mkdir c', 'sync b', 'sync d.new', 'sync c'],
    )
    const modes = ['b', 'b/c'].map(async (name) => (await nodeFiles.stat(join(folder, name))).mode & 0o777)
    assert.deepEqual(await Promise.all(modes), [0o700, 0o700])
  })

  for (const step of ['open a.new wx', 'chmod a.new', 'write a.new', 'sync a.new', 'rename a.new a']) {
    test(`leaves the old content and nothing else when "${step}" fails`, async (t) => {
      const { folder, path } = await makePlace(t)
      await nodeFiles.writeFile(path, 'old')
      await assert.rejects(writeFileDurably(path, 'new', {}, new WatchedFiles(step)), { message: `${step} failed` })
      assert.equal(await nodeFiles.readFile(path, 'utf8'), 'old')
      assert.deepEqual(await nodeFiles.readdir(folder), ['a'])
    })
  }

  test('reports that the folder could not be synced: the content may be the old one after a power cut', async (t) => {
    const { folder, path } = await makePlace(t)
    await assert.rejects(writeFileDurably(path, 'new', {}, new WatchedFiles('sync state')), {
      message: 'sync state failed',
    })
    assert.deepEqual(await nodeFiles.readdir(folder), ['a'])
  })

  test('does without on a file system that cannot sync a folder', async (t) => {
    const { path } = await makePlace(t)
    await writeFileDurably(path, 'new', {}, new WatchedFiles('sync state', 'EINVAL'))
    assert.equal(await nodeFiles.readFile(path, 'utf8'), 'new')
  })

  test('replaces what a killed agent left, with the mode asked for', async (t) => {
    const { folder, path } = await makePlace(t)
    await nodeFiles.writeFile(`${path}.new`, 'half of something longer', { mode: 0o666 })
    await writeFileDurably(path, Buffer.from('new'), { mode: 0o640 })
    assert.equal(await nodeFiles.readFile(path, 'utf8'), 'new')
    assert.equal((await nodeFiles.stat(path)).mode & 0o777, 0o640)
    assert.deepEqual(await nodeFiles.readdir(folder), ['a'])
  })

  test('leaves the old content when what a killed agent left cannot be removed', async (t) => {
    const { path } = await makePlace(t)
    await nodeFiles.writeFile(path, 'old')
    await nodeFiles.writeFile(`${path}.new`, 'half')
    await assert.rejects(writeFileDurably(path, 'new', {}, new WatchedFiles('unlink a.new')), {
      message: 'unlink a.new failed',
    })
    assert.equal(await nodeFiles.readFile(path, 'utf8'), 'old')
  })

  test('makes its folders beside others that make the same ones', async (t) => {
    const folder = join((await makePlace(t)).folder, 'b', 'c')
    await Promise.all(Array.from({ length: 20 }, (_, index) => writeFileDurably(join(folder, String(index)), 'x')))
    assert.equal((await nodeFiles.readdir(folder)).length, 20)
  })

  test('fails in a place that takes no folders', async () => {
    await assert.rejects(writeFileDurably('/proc/deckhand/a', 'new'), { code: 'ENOENT' })
  })
})

test('renameDurably() moves a file, also to another folder', async (t) => {
  const { folder, path } = await makePlace(t)
  await nodeFiles.writeFile(path, 'text')
  await renameDurably(path, join(folder, 'b'))
  await makeFolder(join(folder, 'c'))
  await renameDurably(join(folder, 'b'), join(folder, 'c/d'))
  assert.equal(await nodeFiles.readFile(join(folder, 'c/d'), 'utf8'), 'text')
  await assert.rejects(renameDurably(path, join(folder, 'b')), { code: 'ENOENT' })
})

test('removeFileDurably() removes a file with what was being written, and succeeds when there is none', async (t) => {
  const { folder, path } = await makePlace(t)
  await nodeFiles.writeFile(path, 'text')
  await nodeFiles.writeFile(`${path}.new`, 'half')
  await removeFileDurably(path)
  await removeFileDurably(path)
  assert.deepEqual(await nodeFiles.readdir(folder), [])
})
