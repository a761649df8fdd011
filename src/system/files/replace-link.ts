import { readlink, symlink, unlink } from 'node:fs/promises'
import { renameDurably } from './state/durable-file.ts'
import { hasCode, unlessAbsent } from './error-codes.ts'

/** Where a symbolic link leads; undefined when there is none of this name. */
export async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    // EINVAL: something else has the name.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) return undefined
    throw error
  }
}

/** Makes a symbolic link lead elsewhere in one step, by way of another name: at any moment it leads to the old target or to the new one. */
export async function replaceLink(link: string, via: string, target: string): Promise<void> {
  await unlessAbsent(unlink(via), undefined)
  await symlink(target, via)
  await renameDurably(via, link)
}
