import { lstat, readdir, realpath, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { mountPointsBelow, outerMountPointsBelow } from '../mounts/mount-table.ts'
import type { MountEntry } from '../mounts/mount-table.ts'
import { hasCode, unlessAbsent } from '../files/error-codes.ts'

/** What stays of a directory because it is not the agent's. */
export interface Remains {
  readonly directory: string
  /** Paths, with why they stay; empty when the directory is gone. */
  readonly left: readonly string[]
}

/** What the agent makes in a directory; all else there is not its own. */
export interface OwnParts {
  readonly files: readonly string[]
  /** Directories of directories of files; "." for the directory itself. */
  readonly trees: readonly string[]
  /** Removed when they are empty. */
  readonly folders: readonly string[]
}

// A longer list helps no reader.
const MOST_NAMED = 10

/**
 * Removes what the agent made in a directory, and then the directory. Nothing is removed behind a link or a mount, and nothing that is
 * nested deeper than the agent nests: that is not ours, and stays with the directory around it.
 */
export async function removeOwnDirectory(
  directory: string,
  { files, trees, folders }: OwnParts,
  readTable: () => Promise<readonly MountEntry[]>,
): Promise<Remains> {
  const stat = await statOrUndefined(directory)
  if (stat === undefined) return { directory, left: [] }
  if (!stat.isDirectory()) return { directory, left: [`${directory} (expected a directory)`] }
  const real = await realpath(directory)
  const table = await readTable()
  const points = new Set(mountPointsBelow(table, real))
  if (points.has(real)) return { directory, left: [`${real} (mounted)`] }
  for (const tree of trees) await removeTree(join(real, tree), points)
  for (const file of files) await removeFile(join(real, file), points)
  for (const folder of folders) await removeEmpty(join(real, folder), points)
  await removeEmpty(real, points)
  const left = await describeRest(real, outerMountPointsBelow(table, real))
  return { directory, left: left.length > MOST_NAMED ? [...left.slice(0, MOST_NAMED), 'and more'] : left }
}

/** Removes directory/name/file for all names and files, then the directories. */
async function removeTree(directory: string, points: ReadonlySet<string>): Promise<void> {
  const stat = await statOrUndefined(directory)
  if (points.has(directory) || stat?.isDirectory() !== true) return
  for (const name of await unlessAbsent(readdir(directory), [])) {
    const inner = join(directory, name)
    if (points.has(inner)) continue
    const isDirectory = (await statOrUndefined(inner))?.isDirectory() === true
    if (!isDirectory) await removeFile(inner, points)
    else for (const file of await unlessAbsent(readdir(inner), [])) await removeFile(join(inner, file), points)
    if (isDirectory) await removeEmpty(inner, points)
  }
  await removeEmpty(directory, points)
}

async function removeFile(path: string, points: ReadonlySet<string>): Promise<void> {
  const stat = await statOrUndefined(path)
  if (stat === undefined || stat.isDirectory() || points.has(path)) return
  await unlessAbsent(unlink(path), undefined)
}

/** A directory that still holds something stays: it is not ours to empty. */
async function removeEmpty(directory: string, points: ReadonlySet<string>): Promise<void> {
  if (points.has(directory)) return
  try {
    await rmdir(directory)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY', 'EINVAL', 'ENOTDIR')) throw error
  }
}

/** By name, and in directories of the agent one step further: those are not what keeps the rest. */
async function describeRest(directory: string, points: readonly string[]): Promise<readonly string[]> {
  const left = points.map((point) => `${point} (mounted)`)
  const isMounted = (path: string) => points.some((point) => point === path || point.startsWith(`${path}/`))
  for (const name of await unlessAbsent(readdir(directory), [])) {
    const path = join(directory, name)
    const isDirectory = !isMounted(path) && (await statOrUndefined(path))?.isDirectory() === true
    const names = isDirectory ? await unlessAbsent(readdir(path), []) : []
    if (names.length > 0) left.push(...names.map((inner) => `${join(path, inner)} (not the agent's)`))
    else if (!isMounted(path)) left.push(`${path} (not the agent's)`)
  }
  return left
}

async function statOrUndefined(path: string) {
  return await unlessAbsent(lstat(path), undefined)
}
