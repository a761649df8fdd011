import { lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessAbsent } from './error-codes.ts'

/** The sockets below a directory, and the directories in which more may appear. */
export interface FoundSockets {
  /** By path: what distinguishes it from an earlier one of the same name. */
  readonly sockets: ReadonlyMap<string, string>
  readonly directories: ReadonlyMap<string, string>
  /** There was more than is searched. */
  readonly isCut: boolean
}

// Some dozen plugins are many; whatever makes more than this does so by mistake.
const MOST_ENTRIES = 1000
const MOST_LEVELS = 10

/** Finds sockets at any depth; hidden names are skipped. Makes the directory when it is missing. */
export async function findSockets(root: string): Promise<FoundSockets> {
  await mkdir(root, { recursive: true, mode: 0o750 })
  const sockets = new Map<string, string>()
  const directories = new Map<string, string>()
  let left = MOST_ENTRIES
  let isCut = false
  const search = async (path: string, level: number): Promise<void> => {
    // What disappears while we read counts as absent.
    const seen = await unlessAbsent(lstat(path, { bigint: true }), undefined)
    if (seen === undefined) return
    // A number may be used again at once, together with its time it never is.
    const identity = `${seen.ino}/${seen.birthtimeNs}`
    if (seen.isSocket()) sockets.set(path, identity)
    if (!seen.isDirectory()) return
    directories.set(path, identity)
    for (const name of await unlessAbsent(readdir(path), [])) {
      if (name.startsWith('.')) continue
      if (level >= MOST_LEVELS || (left -= 1) < 0) return void (isCut = true)
      await search(join(path, name), level + 1)
    }
  }
  await search(root, 0)
  return { sockets, directories, isCut }
}
