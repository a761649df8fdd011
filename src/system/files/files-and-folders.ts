import { readdir, readFile, readlink, realpath, rm, unlink } from 'node:fs/promises'
import { hasCode } from './error-codes.ts'

/** The folder's path without symbolic links; as it is when there is no such folder. */
export async function realFolder(path: string): Promise<string> {
  return await realpath(path).catch(() => path)
}

/** The file's text, or undefined when there is no such file. */
export async function readTextIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** The file's bytes. */
export async function readBytes(path: string): Promise<Buffer> {
  return await readFile(path)
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
    if (hasCode(error, 'ENOENT')) return []
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
