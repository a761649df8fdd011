import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder with its parents; nothing happens when it is there. */
export async function makeFolder(path: string, mode = 0o755): Promise<void> {
  await mkdir(path, { recursive: true, mode })
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
  await mkdir(dirname(path), { recursive: true })
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
