import { lstat, mkdir, open, readlink, rmdir, symlink, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, unlessAbsent } from '../files/error-codes.ts'

/** The files around block devices of pods. Only what is certainly the agent's own is ever removed: an empty file, a link, an empty directory. */
export interface DeviceFiles {
  /** An empty file that a device is bound on, with the directories above it. */
  makeFile(path: string): Promise<void>
  /** Fails when it holds something. */
  removeFile(path: string): Promise<void>
  makeLink(link: string, target: string): Promise<void>
  removeLink(link: string): Promise<void>
  /** Unless others are in it. */
  removeIfEmpty(directory: string): Promise<void>
}

const DIRECTORY_MODE = 0o750

export const deviceFiles: DeviceFiles = {
  async makeFile(path) {
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
    try {
      await using _ = await open(path, 'wx', 0o640)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  },

  async removeFile(path) {
    const stat = await unlessAbsent(lstat(path), undefined)
    if (stat === undefined) return
    if (!stat.isFile() || stat.size > 0) throw new Error(`Cannot remove "${path}": expected an empty file`)
    await unlessAbsent(unlink(path), undefined)
  },

  async makeLink(link, target) {
    await mkdir(dirname(link), { recursive: true, mode: DIRECTORY_MODE })
    const stat = await unlessAbsent(lstat(link), undefined)
    if (stat?.isSymbolicLink() === true) {
      if ((await readlink(link)) === target) return
      await unlink(link)
    }
    await symlink(target, link)
  },

  async removeLink(link) {
    const stat = await unlessAbsent(lstat(link), undefined)
    if (stat === undefined) return
    if (!stat.isSymbolicLink()) throw new Error(`Cannot remove "${link}": expected a symbolic link`)
    await unlessAbsent(unlink(link), undefined)
  },

  async removeIfEmpty(directory) {
    try {
      await rmdir(directory)
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error
    }
  },
}
