import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { hasCode, unlessAbsent } from '../../files/error-codes.ts'
import type { TreeUsage } from '../../files/file-usage.ts'

const BLOCK_BYTES = 512

/** What an entry takes on the disk; links are not followed. */
export async function measureFile(path: string): Promise<TreeUsage> {
  const found = await unlessAbsent(lstat(path), undefined)
  return found === undefined ? { bytes: 0, inodes: 0 } : { bytes: found.blocks * BLOCK_BYTES, inodes: 1 }
}

/** The same for a file that a container writes and the agent reads: one that is larger than so many bytes is emptied after it was measured. */
export async function cutFile(path: string, mostBytes: number): Promise<TreeUsage & { readonly isCut: boolean }> {
  const found = await unlessAbsent(lstat(path), undefined)
  if (found === undefined) return { bytes: 0, inodes: 0, isCut: false }
  const bytes = found.blocks * BLOCK_BYTES
  // The size counts too: who maps a file of that size into memory fills it without any further call.
  const isCut = found.isFile() && Math.max(bytes, found.size) > mostBytes
  // What was written since the first look counts too.
  return { bytes: isCut ? Math.max(bytes, await empty(path)) : bytes, inodes: 1, isCut }
}

/** Returns what it took on the disk. A writer that goes on leaves a hole, which takes no room. */
async function empty(path: string): Promise<number> {
  const { O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'EISDIR', 'ENXIO')) return undefined
    throw error
  })
  if (file === undefined) return 0
  await using held = file
  const found = await held.stat()
  if (!found.isFile()) return 0
  await held.truncate(0)
  return found.blocks * BLOCK_BYTES
}
