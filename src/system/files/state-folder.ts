import { mkdir, open, readdir, readFile, readlink, realpath, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder with its parents; nothing happens when it is there. */
export async function makeFolder(path: string, mode = 0o755): Promise<void> {
  // Not by "recursive": in a place that takes no folders, such as /proc, Node never comes back from that.
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode })
  }
}

/** The folder's path without symbolic links; as it is when there is no such folder. */
export async function realFolder(path: string): Promise<string> {
  return await realpath(path).catch(() => path)
}

/** The file's text, or undefined when there is no such file. */
export async function readTextIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The file's bytes. */
export async function readBytes(path: string): Promise<Buffer> {
  return await readFile(path)
}

/** Writes a file so that a reader, also after a crash, sees the old or the new content and nothing between. */
export async function writeFileAtomically(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  const temporary = `${path}.new`
  await makeFolder(dirname(path))
  const file = await open(temporary, 'w', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

/** Removes a file or a whole folder of our own; nothing happens when it is gone. Never for what pods can write to. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}

/** The names in a folder; none when there is no such folder. */
export async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Removes the links of one folder that point below another; both may be gone. */
export async function removeLinksInto(links: string, target: string): Promise<void> {
  for (const name of await readdir(links).catch(() => [])) {
    const path = `${links}/${name}`
    if ((await readlink(path).catch(() => '')).startsWith(`${target}/`)) await unlink(path)
  }
}

/** Puts a file in the place of another, at once. */
export async function replaceFile(from: string, to: string): Promise<void> {
  await rename(from, to)
}
