import { chmod, lstat } from 'node:fs/promises'
import { makeFolder } from '../files/state/durable-file.ts'
import { listFolder } from '../files/files-and-folders.ts'

// The folders in it are open to every user, so that any container can write; who is not root must not get to them.
const ROOT_MODE = 0o700
const FOLDER_MODE = 0o777

/** Makes the folder of a volume where it is missing; what else has its name is no folder of ours. */
export async function makeProvisionedFolder(root: string, name: string): Promise<void> {
  if (name.includes('/') || name.startsWith('.')) throw new Error(`Cannot make a folder "${name}": it is no name`)
  await makeFolder(root, ROOT_MODE)
  await chmod(root, ROOT_MODE)
  const path = `${root}/${name}`
  await makeFolder(path, FOLDER_MODE)
  if (!(await lstat(path)).isDirectory()) throw new Error(`Cannot use "${path}" for a volume: it is no folder`)
  // The mode of a new folder is less the umask.
  await chmod(path, FOLDER_MODE)
}

/** The names of all of them. */
export async function listProvisionedFolders(root: string): Promise<readonly string[]> {
  return await listFolder(root)
}
