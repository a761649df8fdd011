import { constants } from 'node:fs'
import { lstat, open, readdir, rename, unlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readDockerLink } from './docker-log-link.ts'
import { unlessAbsent } from '../../files/error-codes.ts'

/** Something at the path of a log that is not a plain file. */
class LogFileError extends Error {
  override readonly name = 'LogFileError'
}

/** Which file to compress, where it is written, and its name when it is complete. */
interface Compression {
  readonly path: string
  readonly temporary: string
  readonly target: string
}

/** What the rotation of logs does with files. Nothing here follows a link or waits for a pipe. */
export interface LogFiles {
  /** In bytes; undefined when there is no such file, `elsewhere` for the link to a log that the runtime keeps, and rotates, in its own folder. */
  size(path: string): Promise<number | 'elsewhere' | undefined>
  names(directory: string): Promise<string[]>
  rename(from: string, to: string): Promise<void>
  /** Succeeds when the file is gone already. */
  remove(path: string): Promise<void>
  /** Puts a gzipped file of the same mode in place of a plain one. */
  compress(files: Compression, signal: AbortSignal): Promise<void>
}

export const logFiles: LogFiles = {
  async size(path) {
    const found = await unlessAbsent(lstat(path), undefined)
    if (found === undefined) return undefined
    if (found.isSymbolicLink() && (await readDockerLink(path)) !== undefined) return 'elsewhere'
    if (!found.isFile()) throw new LogFileError(`Cannot use "${path}" as a log: expected a regular file`)
    return found.size
  },
  names: (directory) => readdir(directory),
  rename,
  async remove(path) {
    await unlessAbsent(unlink(path), undefined)
  },
  async compress({ path, temporary, target }, signal) {
    try {
      await writeCompressed(path, temporary, signal)
      await rename(temporary, target)
    } catch (error) {
      await logFiles.remove(temporary)
      throw signal.aborted ? signal.reason : error
    }
    await logFiles.remove(path)
  },
}

async function writeCompressed(path: string, temporary: string, signal: AbortSignal): Promise<void> {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
  await using source = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const found = await source.stat()
  if (!found.isFile()) throw new LogFileError(`Cannot compress "${path}": expected a regular file`)
  await using sink = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  await sink.chmod(found.mode & 0o777)
  await pipeline(source.createReadStream(), createGzip(), sink.createWriteStream(), { signal })
}
