import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { hasCode } from '../files/error-codes.ts'
import { removeFileDurably, renameDurably, writeFileDurably } from '../files/state/durable-file.ts'

export type ManifestCopies = ReturnType<typeof createLastGoodManifests>

/** Does what sets a file aside, and reports that it was, or could not be. */
export type ReportSetAside = <T>(kind: string, path: string, work: () => Promise<T>) => Promise<T>

// Not what a killed agent left unfinished.
const COPY = /^[0-9a-f]{64}$/
const BROKEN_SUFFIX = '.broken'

/**
 * Copies of the manifests that were good when last read, by file name. A manifest that is edited into something invalid keeps its
 * pod; with the copy it does so also over the end of the agent. One that cannot be read is set aside.
 */
export function createLastGoodManifests(
  folder: string,
  report: ReportSetAside = (_, __, work) => work(),
  readBytes: (path: string) => Promise<Uint8Array> = readFile,
) {
  // A file name may be as long as a file system takes; its hash always fits.
  const fileOf = (name: string) => createHash('sha256').update(name).digest('hex')
  const read = async (file: string) => {
    const path = join(folder, file)
    try {
      return await readBytes(path)
    } catch (error) {
      // A pod must not end because no descriptor was to spare when its copy was needed.
      throwIfTransient(error)
      if (hasCode(error, 'ENOENT')) return undefined
      // One that cannot be moved either is reported, and no reason to go without the pods of the others.
      await report('manifest', path, () => renameDurably(path, `${path}${BROKEN_SUFFIX}`)).catch(() => undefined)
      return undefined
    }
  }
  return {
    /** Undefined when there is none, or none that can be read; fails when it can be read later. */
    async read(name: string): Promise<Uint8Array | undefined> {
      return await read(fileOf(name))
    },

    /** All copies, in no order; undefined for one that cannot be read, or could not by an earlier agent and was not made again. */
    async readAll(): Promise<readonly (Uint8Array | undefined)[]> {
      const names = await readdir(folder).catch((error: unknown) => {
        throwIfTransient(error)
        return []
      })
      const files = new Set(names.map(toCopyName))
      return await Promise.all([...files].filter((file) => COPY.test(file)).map(read))
    },

    async write(name: string, bytes: Uint8Array): Promise<void> {
      await writeFileDurably(join(folder, fileOf(name)), bytes, { mode: 0o600, folderMode: 0o700 })
    },

    async remove(name: string): Promise<void> {
      await removeFileDurably(join(folder, fileOf(name)))
    },

    /** Forgets all others. */
    async retain(names: readonly string[]): Promise<void> {
      const kept = new Set(names.map(fileOf))
      const files = await readdir(folder).catch(() => [])
      for (const file of files) if (!kept.has(toCopyName(file))) await removeFileDurably(join(folder, file))
    },
  }
}

/** Of which copy a file is, also of one that was set aside. */
function toCopyName(file: string): string {
  return file.endsWith(BROKEN_SUFFIX) ? file.slice(0, -BROKEN_SUFFIX.length) : file
}
