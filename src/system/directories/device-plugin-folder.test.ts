import assert from 'node:assert/strict'
import { readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { setUmask } from '../../../test/fixtures/set-umask.ts'
import { clearDevicePluginFolder, prepareWatchedSocket } from './device-plugin-folder.ts'

const listen = (path: string) =>
  new Promise<Server>((resolve) => {
    const server = createServer().listen(path, () => resolve(server))
  })

test('clearDevicePluginFolder() makes the folder, and removes sockets and nothing else', async (t) => {
  setUmask(t, 0o022)
  const folder = join(makeTemporaryFolder(), 'a', 'device-plugins')
  await clearDevicePluginFolder(folder)
  assert.equal(statSync(folder).mode & 0o777, 0o750)
  const server = await listen(join(folder, 'plugin.sock'))
  t.after(() => server.close())
  writeFileSync(join(folder, 'kubelet_internal_checkpoint'), '{}')
  symlinkSync('nowhere', join(folder, 'link'))
  await clearDevicePluginFolder(folder)
  assert.deepEqual(readdirSync(folder).toSorted(), ['kubelet_internal_checkpoint', 'link'])
})

test('prepareWatchedSocket() frees the place of a socket that an earlier process left', async (t) => {
  const path = join(makeTemporaryFolder(), 'kubelet.sock')
  writeFileSync(path, '')
  const socket = await prepareWatchedSocket(path)
  const server = await listen(socket.temporaryPath)
  t.after(() => server.close())
  await socket.publish()
  assert.ok(statSync(path).isSocket())
})
