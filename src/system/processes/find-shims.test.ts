import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { findShims } from './find-shims.ts'

const ID = 'ab'.repeat(32)

/** A process that looks like a shim of this containerd, with a child of its own. */
async function startShim(t: TestContext, name: string, args: readonly string[]): Promise<number> {
  const script = `require('child_process').spawn('sleep', ['100']); console.log('ready'); setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['-e', script, '--', ...args], {
    argv0: name,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  t.after(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

test('findShims() finds those of one containerd and namespace, and no others', async (t) => {
  const folder = makeTemporaryFolder()
  const socketPath = join(folder, 'containerd.sock')
  const otherPath = join(folder, 'other.sock')
  const link = join(folder, 'link.sock')
  for (const path of [socketPath, otherPath]) writeFileSync(path, '')
  symlinkSync(socketPath, link)
  const shim = '/usr/bin/containerd-shim-runc-v2'
  const args = (address: string, namespace = 'k8s.io') => ['-namespace', namespace, '-id', ID, '-address', address]
  const own = await startShim(t, shim, args(socketPath))
  const linked = await startShim(t, shim, args(link))
  await startShim(t, shim, args(otherPath))
  await startShim(t, shim, args(join(folder, 'gone.sock')))
  await startShim(t, shim, args(socketPath, 'moby'))
  await startShim(t, shim, [...args(socketPath), 'delete'])
  await startShim(t, '/usr/bin/other', args(socketPath))
  const found = await findShims({ socketPath, namespace: 'k8s.io' })
  assert.deepEqual(
    found.map(({ process: { pid } }) => pid).toSorted((a, b) => a - b),
    [own, linked].toSorted((a, b) => a - b),
  )
  assert.deepEqual(
    found.map(({ id, children }) => [id, children.length]),
    [
      [ID, 1],
      [ID, 1],
    ],
  )
})
