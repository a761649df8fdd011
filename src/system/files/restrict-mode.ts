import { chmod, open, stat } from 'node:fs/promises'
import { unlessAbsent } from './error-codes.ts'

/** Makes an empty file for its owner alone where there is none, for a library that would make it for all to read. */
export async function ensurePrivateFile(path: string): Promise<void> {
  await using _ = await open(path, 'a', 0o600)
  await restrictMode(path, 0o600)
}

/** Takes from a file or folder of our own what goes beyond a mode: earlier versions, or a person, may have made it more open. */
export async function restrictMode(path: string, mode: number): Promise<void> {
  const found = await unlessAbsent(stat(path), undefined)
  if (found === undefined) return
  const now = found.mode & 0o7777
  if ((now & ~mode) !== 0) await chmod(path, now & mode)
}
