import { chmod, lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import { readManifestFile } from './read-manifest-file.ts'

/** A folder of small files that only the agent reads and writes. */
export interface RecordFolder {
  /** None when the folder was never written to. */
  names(): Promise<readonly string[]>
  /** Undefined when there is no such file. */
  read(name: string): Promise<string | undefined>
  /** A reader, also after a crash, sees the old or the new text and nothing between. */
  write(name: string, text: string): Promise<void>
  /** Is content when the file is gone already. */
  remove(name: string): Promise<void>
}

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const TEMPORARY = '.tmp'
const LARGEST_RECORD_BYTES = 1024 * 1024

/** Nobody but root reads such a folder: names of images and hashes of credentials are nobody else's business. */
export function createRecordFolder(path: string): RecordFolder {
  const pathOf = (name: string) => `${path}/${name}`
  return {
    async names() {
      const names = await unlessAbsent(readdir(path), [])
      return names.filter((name) => !name.endsWith(TEMPORARY))
    },

    async read(name) {
      const result = await readManifestFile(pathOf(name), LARGEST_RECORD_BYTES)
      if (result.kind === 'content') return Buffer.from(result.bytes).toString('utf8')
      if ((await unlessAbsent(lstat(pathOf(name)), undefined)) === undefined) return undefined
      throw new Error(`Cannot read "${pathOf(name)}": ${result.reason}`)
    },

    async write(name, text) {
      await mkdir(path, { recursive: true, mode: FOLDER_MODE })
      const temporary = `${pathOf(name)}${TEMPORARY}`
      {
        await using file = await open(temporary, 'w', FILE_MODE)
        await file.writeFile(text)
        await file.sync()
      }
      await chmod(temporary, FILE_MODE)
      await rename(temporary, pathOf(name))
    },

    async remove(name) {
      await unlessAbsent(unlink(pathOf(name)), undefined)
    },
  }
}

async function unlessAbsent<T, U>(result: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await result
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
}
