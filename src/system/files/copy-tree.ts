import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessAbsent } from './error-codes.ts'

/** Copies a file, or a folder with the files in it, to be read by its owner alone. Says which files there are, as paths below both roots. What is no file or folder is left out, and so is what is gone. */
export async function copyTree(from: string, to: string, path: string): Promise<readonly string[]> {
  const stats = await unlessAbsent(lstat(join(from, path)), undefined)
  if (stats?.isFile() === true) {
    await mkdir(dirname(join(to, path)), { recursive: true, mode: 0o700 })
    await copyFile(join(from, path), join(to, path))
    await chmod(join(to, path), 0o600)
    return [path]
  }
  if (stats?.isDirectory() !== true) return []
  await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  const copied: string[] = []
  for (const name of (await readdir(join(from, path))).toSorted())
    copied.push(...(await copyTree(from, to, `${path}/${name}`)))
  return copied
}

/** Every file below a folder, as paths below it. */
export async function listTree(folder: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) found.push(...(await listTree(folder, path)))
    else found.push(path)
  }
  return found.toSorted()
}

/** Every file below a folder stays after a power cut. */
export async function syncTree(folder: string): Promise<void> {
  for (const path of await listTree(folder)) {
    await using file = await open(join(folder, path), 'r')
    await file.sync()
  }
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
