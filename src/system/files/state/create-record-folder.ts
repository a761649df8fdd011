import { lstat, readdir } from 'node:fs/promises'
import { removeFileDurably, renameDurably, UNFINISHED_SUFFIX, writeFileDurably } from './durable-file.ts'
import { unlessAbsent } from '../error-codes.ts'
import { readBoundedFile } from '../read-bounded-file.ts'

/** A folder of small files that only the agent reads and writes. */
export interface RecordFolder {
  /** None when the folder was never written to. */
  names(): Promise<readonly string[]>
  /** Undefined when there is no such file. */
  read(name: string): Promise<string | undefined>
  /** The text is on the disk when this resolves, whole or not at all. */
  write(name: string, text: string): Promise<void>
  /** Succeeds when the file is gone already. */
  remove(name: string): Promise<void>
}

/** A folder in which a broken file can be kept beside the others. */
export interface StateRecords extends RecordFolder {
  /** Keeps a file that cannot be used under another name, for people to read. */
  setAside(name: string): Promise<void>
}

// Only root reads such a folder: names of images and hashes of credentials are of no concern to others.
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const LARGEST_RECORD_BYTES = 1024 * 1024
const BROKEN_SUFFIX = '.broken'
// The second one is what the Go kubelet has not finished.
const NO_RECORDS = [UNFINISHED_SUFFIX, '.tmp', BROKEN_SUFFIX]

/** The records in a folder, which is made with the first of them. */
export function createRecordFolder(path: string): StateRecords {
  const pathOf = (name: string) => `${path}/${name}`
  return {
    async names() {
      const names = await unlessAbsent(readdir(path), [])
      return names.filter((name) => !NO_RECORDS.some((suffix) => name.endsWith(suffix)))
    },

    async read(name) {
      const result = await readBoundedFile(pathOf(name), LARGEST_RECORD_BYTES)
      if (result.kind === 'content') return Buffer.from(result.bytes).toString('utf8')
      if ((await unlessAbsent(lstat(pathOf(name)), undefined)) === undefined) return undefined
      const cause = result.kind === 'failed' ? result.error : undefined
      throw new Error(`Cannot read "${pathOf(name)}": ${result.reason}`, { cause })
    },

    write: (name, text) => writeFileDurably(pathOf(name), text, { mode: FILE_MODE, folderMode: FOLDER_MODE }),
    remove: (name) => removeFileDurably(pathOf(name)),
    setAside: (name) => renameDurably(pathOf(name), `${pathOf(name)}${BROKEN_SUFFIX}`),
  }
}
