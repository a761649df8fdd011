import * as nodeFiles from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, unlessAbsent } from '../error-codes.ts'

/** The calls of the file system that make something last, to be replaced in tests by some that fail. */
export type DurableFileCalls = Pick<typeof nodeFiles, 'mkdir' | 'open' | 'rename' | 'stat' | 'unlink'>

interface WriteModes {
  /** Of the file, exactly, whatever the umask. */
  readonly mode?: number
  /** Of its folder and the folders above it, where they do not exist yet. */
  readonly folderMode?: number
}

/**
 * What a file that is being written has at the end of its name. The name is the same each time, so that the next write replaces what a
 * killed agent left behind.
 */
export const UNFINISHED_SUFFIX = '.new'

/**
 * Writes a file of the agent's own state. When it resolves, the content is on the disk; whenever the agent dies or the power fails, the
 * file has the old or the new content, all of it. A path has one writer at a time.
 */
export async function writeFileDurably(
  path: string,
  content: string | Uint8Array,
  { mode = 0o644, folderMode = 0o755 }: WriteModes = {},
  files: DurableFileCalls = nodeFiles,
): Promise<void> {
  const temporary = `${path}${UNFINISHED_SUFFIX}`
  const handle = await openNew(temporary, { mode, folderMode }, files)
  try {
    await writeSynced(handle, content, mode)
    await files.rename(temporary, path)
  } catch (error) {
    // Best effort: the error that matters is the first one, and the next write replaces the file.
    await files.unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(path), files)
}

/** Gives a file, a folder or a link another name, in place of what has that name; it stays so after a power cut. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await nodeFiles.rename(from, to)
  await syncFolder(dirname(to))
  if (dirname(from) !== dirname(to)) await syncFolder(dirname(from))
}

/** Gives files another ending, so that they are out of the way and people can still read them. Files that do not exist are skipped. */
export async function setAside(paths: readonly string[], suffix: string): Promise<void> {
  for (const path of paths) await unlessAbsent(renameDurably(path, `${path}${suffix}`), undefined)
}

/** Removes a file, and what a killed agent left of its next version; it stays removed after a power cut. */
export async function removeFileDurably(path: string): Promise<void> {
  await unlinkIfPresent(`${path}${UNFINISHED_SUFFIX}`, nodeFiles)
  if (await unlinkIfPresent(path, nodeFiles)) await syncFolder(dirname(path))
}

/** Makes a folder and those above it with this mode; one that exists keeps its own. */
export async function makeFolder(path: string, mode = 0o755, files: DurableFileCalls = nodeFiles): Promise<void> {
  // Without "recursive": in a place that takes no folders, such as /proc, Node never returns from that.
  try {
    await makeOneFolder(path, mode, files)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
    await makeFolder(dirname(path), mode, files)
    await makeOneFolder(path, mode, files)
  }
}

/** Another writer may make it at the same time: the one that does syncs what is above it. */
async function makeOneFolder(path: string, mode: number, files: DurableFileCalls): Promise<void> {
  try {
    await files.mkdir(path, { mode })
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await files.stat(path)).isDirectory()) return
    throw error
  }
  await syncFolder(dirname(path), files)
}

/** Without this a power cut may undo what happened to the names in a folder. */
export async function syncFolder(folder: string, files: DurableFileCalls = nodeFiles): Promise<void> {
  await using handle = await files.open(folder, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Some file systems, mostly of networks, cannot sync a folder.
    if (!hasCode(error, 'EINVAL', 'ENOTSUP')) throw error
  }
}

/** Most folders are there, and few writes are cut off: what is in the way is looked for only when a file cannot be made. */
async function openNew(
  path: string,
  { mode, folderMode }: Required<WriteModes>,
  files: DurableFileCalls,
): Promise<nodeFiles.FileHandle> {
  try {
    return await files.open(path, 'wx', mode)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) await makeFolder(dirname(path), folderMode, files)
    else if (hasCode(error, 'EEXIST')) await files.unlink(path)
    else throw error
    return await files.open(path, 'wx', mode)
  }
}

async function writeSynced(handle: nodeFiles.FileHandle, content: string | Uint8Array, mode: number) {
  await using file = handle
  await file.chmod(mode)
  await file.writeFile(content)
  await file.sync()
}

/** True when there was one. */
async function unlinkIfPresent(path: string, files: DurableFileCalls): Promise<boolean> {
  try {
    await files.unlink(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}
