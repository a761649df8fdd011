import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { hasCode, unlessAbsent } from '../../files/error-codes.ts'

/** What is at a path below the folder of the logs. */
export type NodeLog =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'directory'
      readonly entries: readonly { readonly name: string; readonly isDirectory: boolean }[]
    }
  | {
      readonly kind: 'file'
      readonly size: number
      readonly modifiedAt: number
      /** As much as there was when it was opened. The caller reads it to its end, or destroys it. */
      readonly content: () => Readable
    }

/** The logs of the machine. */
export interface NodeLogs {
  /** Opens a relative path. What is not a regular file or a directory, or is elsewhere, is absent. */
  open<T>(path: string, use: (log: NodeLog) => Promise<T>): Promise<T>
}

// Names a file without opening it: no FIFO waits for a writer, no device wakes up.
const O_PATH = 0o10000000
const ABSENT_CODES = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES']

/**
 * The logs below a folder. Links are followed as long as they stay in it, and a file with several names is served only when all of them
 * are in one folder, as those of a rotated log are: a hard link may have been made to a file that is anything but a log.
 */
export function createNodeLogs(root: string): NodeLogs {
  return {
    async open(path, use) {
      const named = await holdInside(root, path)
      if (named === undefined) return await use({ kind: 'absent' })
      await using _ = named
      const stat = await named.stat()
      if (!stat.isFile() && !stat.isDirectory()) return await use({ kind: 'absent' })
      if (stat.isFile() && stat.nlink > 1 && !(await hasAllNamesHere(named, stat))) return await use({ kind: 'absent' })
      if (stat.isDirectory()) return await use({ kind: 'directory', entries: await list(named) })
      await using file = await open(`/proc/self/fd/${named.fd}`, constants.O_RDONLY | constants.O_NONBLOCK)
      const { size, mtimeMs } = stat
      const content = () => file.createReadStream({ start: 0, end: Math.max(0, size - 1), autoClose: false })
      return await use({ kind: 'file', size, modifiedAt: mtimeMs, content })
    },
  }
}

/** Where a name leads is read after it is held: it cannot change then. */
async function holdInside(root: string, path: string): Promise<FileHandle | undefined> {
  if (path.split('/').includes('..') || path.includes('\0')) return undefined
  const realRoot = await realpath(root)
  const held = await open(join(realRoot, path), O_PATH).catch((error: unknown) => {
    if (hasCode(error, ...ABSENT_CODES)) return undefined
    throw error
  })
  if (held === undefined) return undefined
  const place = await readlink(`/proc/self/fd/${held.fd}`)
  if (place === realRoot || place.startsWith(`${realRoot}/`)) return held
  await held.close()
  return undefined
}

/** Whether all names of a file are in the folder of the one that is held. */
async function hasAllNamesHere(held: FileHandle, { dev, ino, nlink }: Stats): Promise<boolean> {
  const folder = dirname(await readlink(`/proc/self/fd/${held.fd}`))
  let names = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue
    const other = await unlessAbsent(lstat(join(folder, entry.name)), undefined)
    if (other?.dev === dev && other.ino === ino) names += 1
  }
  return names === nlink
}

async function list(directory: FileHandle) {
  const entries = await readdir(`/proc/self/fd/${directory.fd}`, { withFileTypes: true })
  return entries
    .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
