import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { findSockets } from './find-sockets.ts'

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'find-sockets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function listen(path: string): Promise<AsyncDisposable> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return server
}

test('findSockets() finds sockets at any depth, and nothing that is hidden or no socket', async (t) => {
  const folder = createFolder(t)
  const root = join(folder, 'registry')
  assert.deepEqual([...(await findSockets(root)).directories.keys()], [root])
  mkdirSync(join(root, 'a/b'), { recursive: true })
  mkdirSync(join(root, '.c'))
  writeFileSync(join(root, 'file'), '')
  await using _1 = await listen(join(root, 'x.sock'))
  await using _2 = await listen(join(root, 'a/b/y.sock'))
  await using _3 = await listen(join(root, '.hidden.sock'))
  await using _4 = await listen(join(root, '.c/z.sock'))
  symlinkSync(join(root, 'x.sock'), join(root, 'link.sock'))
  const { sockets, directories, isCut } = await findSockets(root)
  assert.deepEqual([...sockets.keys()].sort(), [join(root, 'a/b/y.sock'), join(root, 'x.sock')])
  assert.deepEqual([...directories.keys()].sort(), [root, join(root, 'a'), join(root, 'a/b')])
  assert.equal(isCut, false)
})

test('findSockets() distinguishes a socket that was made again from the one before', async (t) => {
  const path = join(createFolder(t), 'x.sock')
  const find = async () => (await findSockets(join(path, '..'))).sockets.get(path)
  const first = await listen(path)
  const before = await find()
  assert.equal(await find(), before)
  await first[Symbol.asyncDispose]()
  assert.equal(await find(), undefined)
  await using _ = await listen(path)
  assert.notEqual(await find(), before)
})

test('findSockets() does not go on for ever', async (t) => {
  const root = createFolder(t)
  mkdirSync(join(root, ...Array<string>(20).fill('d')), { recursive: true })
  const { directories, isCut } = await findSockets(root)
  assert.equal(isCut, true)
  assert.equal(directories.size, 11)
})
