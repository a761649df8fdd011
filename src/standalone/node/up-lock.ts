import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { removeTree } from '../../system/files/files-and-folders.ts'
import { findProcess, rememberProcess, UnnotedError } from './known-process.ts'
import { exitCodes, NodeError } from './node-error.ts'

/** Makes this process the one "up" of a state folder until its block ends; fails when there is one. */
export async function takeUpLock(file: string, pid: number): Promise<AsyncDisposable> {
  const server = await listenAlone(lockName(file))
  if (server === undefined) {
    const other = await findProcess({ file })
    const who = other === undefined ? '' : ` (pid ${other.pid})`
    const message = `Cannot start the node: it runs already${who}; "deckhand status" says more, "deckhand down" stops it`
    throw new NodeError(message, exitCodes.otherState)
  }
  await rememberProcess(file, pid, file).catch((error: unknown) => {
    const { cause } = error as { readonly cause?: NodeJS.ErrnoException }
    // The supervision notes us when there is space again; on other disks there will never be.
    if (!(error instanceof UnnotedError) || cause?.code !== 'ENOSPC') throw cause ?? error
  })
  return {
    async [Symbol.asyncDispose]() {
      await removeTree(file)
      server.close()
    },
  }
}

/** True while there is an "up" of the state folder, noted or not. */
export async function isUpLocked(file: string): Promise<boolean> {
  const server = await listenAlone(lockName(file))
  server?.close()
  return server === undefined
}

function lockName(file: string): string {
  return createHash('sha256').update(file).digest('hex')
}

/** A socket with a name but no file: the kernel gives it to one process, and takes it back however that one ends. */
function listenAlone(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((client) => client.destroy())
    server.unref()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen(`\0deckhand-${name}`, () => resolve(server))
  })
}
