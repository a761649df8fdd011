import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A socket that is made under another name first, so that a client that finds it can connect. */
export interface ServingSocket {
  /** Where to listen. */
  readonly temporaryPath: string
  /** Gives it its name, in place of what an earlier process left there. */
  publish(): Promise<void>
}

/** Makes the directory of a socket, for root and its group only, and a free place in it. */
export async function prepareServingSocket(
  path: string,
  { socketMode }: { readonly socketMode?: number } = {},
): Promise<ServingSocket> {
  const directory = dirname(path)
  const temporaryPath = `${path}.new`
  await mkdir(directory, { recursive: true })
  // Also of one that was there: what is made with it is as open as the directory.
  await chmod(directory, 0o750)
  await rm(temporaryPath, { force: true })
  return {
    temporaryPath,
    async publish() {
      if (socketMode !== undefined) await chmod(temporaryPath, socketMode)
      await rename(temporaryPath, path)
    },
  }
}
