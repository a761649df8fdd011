import { open, rename, unlink } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { dirname } from 'node:path'
import { syncFolder, UNFINISHED_SUFFIX } from './state/durable-file.ts'

/** A file to be read from its beginning to its end. */
export interface FileSource {
  readonly stream: Readable
  readonly sizeBytes: number
}

/** Opens a file for reading; undefined for a folder. */
export async function openSource(path: string): Promise<FileSource | undefined> {
  const file = await open(path)
  try {
    const stats = await file.stat()
    if (stats.isDirectory()) {
      await file.close()
      return undefined
    }
    return { stream: file.createReadStream(), sizeBytes: stats.size }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Writes a file for the user, readable by its owner alone; under its name it is there as a whole or not at all. */
export async function writeFromStream(path: string, source: Readable, signal: AbortSignal): Promise<void> {
  const unfinished = `${path}${UNFINISHED_SUFFIX}`
  const file = await open(unfinished, 'w', 0o600)
  try {
    await pipeline(source, file.createWriteStream({ flush: true }), { signal })
    await rename(unfinished, path)
  } catch (error) {
    await unlink(unfinished).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(path))
}
