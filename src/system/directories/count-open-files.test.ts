import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { countOpenFiles } from './count-open-files.ts'

test('countOpenFiles() counts what a process has open, and its sockets', async (t) => {
  const before = await countOpenFiles(process.pid, 10_000)
  assert.equal(before?.files, readdirSync('/proc/self/fd').length)
  const descriptors = Array.from({ length: 300 }, () => openSync('/dev/null', 'r'))
  t.after(() => descriptors.forEach((descriptor) => closeSync(descriptor)))
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const after = await countOpenFiles(process.pid, 10_000)
  assert.equal((after?.sockets ?? 0) - (before?.sockets ?? 0), 1)
  assert.ok((after?.files ?? 0) - (before?.files ?? 0) >= 301)
})

test('countOpenFiles() looks at no more than it may', async (t) => {
  const child = spawn('cat')
  t.after(() => child.kill())
  // Before its answer it may still have its libraries open.
  child.stdin.write('ready')
  await once(child.stdout, 'data')
  const all = await countOpenFiles(child.pid ?? 0, 10_000)
  assert.ok((all?.files ?? 0) >= 3)
  const bounded = await countOpenFiles(child.pid ?? 0, 1)
  assert.equal(bounded?.sockets, undefined)
  // Older kernels do not count by themselves.
  assert.ok(bounded?.files === undefined || bounded.files === all?.files)
})

test('countOpenFiles() finds nothing of a process that is gone', async () => {
  assert.equal(await countOpenFiles(2 ** 22 + 1, 10), undefined)
})
