import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { writeFileDurably } from './state/durable-file.ts'
import { hasCode } from './error-codes.ts'

const FILE_MODE = 0o600

/** The key in a file that only its owner can read; made from chance when there is none. */
export async function readOrCreateKey(path: string, bytes: number): Promise<Uint8Array> {
  const present = await readKey(path)
  if (present !== undefined) {
    if (present.length !== bytes) {
      throw new Error(`Cannot use the key "${path}": it has ${present.length} bytes, expected ${bytes}`)
    }
    return present
  }
  const key = randomBytes(bytes)
  await writeFileDurably(path, key, { mode: FILE_MODE })
  return key
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  try {
    const { mode } = await stat(path)
    if ((mode & 0o077) !== 0) {
      throw new Error(`Cannot use the key "${path}": others may read it, expected mode 0600`)
    }
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
