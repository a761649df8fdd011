import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'

/** A log that is held open: it stays readable whatever happens to its name. */
export interface LogFile extends AsyncDisposable {
  /** The same for one file under all its names, and for no other file as long as this one is open. */
  readonly identity: string
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  size(): Promise<number>
  /** Fills the buffer from a position on; returns how many bytes there were. */
  read(buffer: Uint8Array, position: number): Promise<number>
}

/** Something at the path of a log that is none. */
export class LogPlaceError extends Error {
  override readonly name = 'LogPlaceError'
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Opens a log, which has to be a plain file. */
export async function openLogFile(path: string): Promise<LogFile> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const found = await handle.stat({ bigint: true })
  if (!found.isFile()) {
    await handle.close()
    throw new LogPlaceError(`Cannot read "${basename(path)}" as a log: expected a regular file`)
  }
  return {
    identity: toIdentity(found),
    modifiedAt: Number(found.mtimeMs),
    size: async () => (await handle.stat()).size,
    read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

export function toIdentity({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}
