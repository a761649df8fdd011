import { lstat, readdir, rm } from 'node:fs/promises'
import { makeFolder } from '../files/state/durable-file.ts'
import type { ServingSocket } from '../files/serving-socket.ts'

/**
 * Makes the folder of device plugins, for root and its group only, and removes the sockets that an earlier agent and its plugins left: a
 * plugin that misses its own, or finds a new one of the agent, presents itself again.
 */
export async function clearDevicePluginFolder(folder: string): Promise<void> {
  // One that is there stays as open as its owner made it.
  await makeFolder(folder, 0o750)
  for (const name of await readdir(folder)) {
    const path = `${folder}/${name}`
    const found = await lstat(path).catch(() => undefined)
    if (found?.isSocket() === true) await rm(path, { force: true })
  }
}

/** A free path for a socket. It is made under its own name: some plugins watch the folder and miss a socket that is moved there. */
export async function prepareWatchedSocket(path: string): Promise<ServingSocket> {
  await rm(path, { force: true })
  return { temporaryPath: path, publish: async () => {} }
}
