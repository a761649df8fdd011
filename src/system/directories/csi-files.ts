import { lstat, readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { makeFolder, removeFileDurably, renameDurably, writeFileDurably } from '../files/state/durable-file.ts'
import { hasCode, unlessAbsent } from '../files/error-codes.ts'

/** A directory with a note about a volume, of this agent or of an earlier one. */
export interface FoundData {
  readonly directory: string
  readonly text: string
}

export type CsiFiles = ReturnType<typeof createCsiFiles>

const DIRECTORY_MODE = 0o750
const NAME = 'vol_data.json'
const BROKEN = `${NAME}.broken`
// A note is a few hundred bytes.
const LARGEST_NOTE = 1024 * 1024

/**
 * The agent's own files and directories around CSI volumes. Nothing in here opens what a driver mounted, and what is removed is empty, or the
 * agent's own note.
 */
export function createCsiFiles(options: { readonly rootDirectory: string }) {
  const root = join(options.rootDirectory, 'plugins', 'kubernetes.io', 'csi')
  return {
    async makeDirectory(path: string): Promise<void> {
      await makeFolder(path, DIRECTORY_MODE)
    },

    /** Removes a directory that is empty; one that is not there is no failure. */
    async removeDirectory(path: string): Promise<void> {
      await unlessAbsent(rmdir(path), undefined)
    },

    /** The same, but one that holds something stays. */
    async removeIfEmpty(path: string): Promise<void> {
      try {
        await rmdir(path)
      } catch (error) {
        if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'EBUSY')) throw error
      }
    },

    /** The note in a directory; undefined when there is none. */
    async readData(directory: string): Promise<string | undefined> {
      return await readNote(join(directory, NAME))
    },

    /** On the disk when it resolves, so that the agent finds it after a crash. */
    async writeData(directory: string, text: string): Promise<void> {
      const path = join(directory, NAME)
      if ((await readNote(path)) === text) return
      await writeFileDurably(path, text, { mode: 0o644, folderMode: DIRECTORY_MODE })
    },

    /** Keeps a note that makes no sense, for people to find out whose volume it was. */
    async setAsideData(directory: string): Promise<void> {
      await renameDurably(join(directory, NAME), join(directory, BROKEN))
    },

    async removeData(directory: string): Promise<void> {
      for (const name of [NAME, BROKEN]) await removeFileDurably(join(directory, name))
    },

    /** The notes of all volumes that may be staged as files. */
    async listStagedFiles(): Promise<readonly FoundData[]> {
      const drivers = (await namesIn(root)).filter((name) => name !== 'volumeDevices')
      const directories = await Promise.all(
        drivers.map(async (driver) => (await namesIn(join(root, driver))).map((name) => join(root, driver, name))),
      )
      return await readAll(directories.flat())
    },

    /** The notes of all volumes that may be staged as devices. */
    async listStagedDevices(): Promise<readonly FoundData[]> {
      const devices = join(root, 'volumeDevices')
      const names = (await namesIn(devices)).filter((name) => name !== 'staging' && name !== 'publish')
      return await readAll(names.map((name) => join(devices, name, 'data')))
    },
  }
}

async function readAll(directories: readonly string[]): Promise<readonly FoundData[]> {
  const found: FoundData[] = []
  for (const directory of directories) {
    const text = await readNote(join(directory, NAME))
    if (text !== undefined) found.push({ directory, text })
  }
  return found
}

async function readNote(path: string): Promise<string | undefined> {
  const stat = await unlessAbsent(lstat(path), undefined)
  // Anything else is none of ours, and opening it might never end.
  if (stat?.isFile() !== true || stat.size > LARGEST_NOTE) return undefined
  return await unlessAbsent(readFile(path, 'utf8'), undefined).catch((error: unknown) => {
    throwIfTransient(error)
    // One that cannot be read says as little as an empty one, and is set aside like it.
    return ''
  })
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return await unlessAbsent(readdir(directory), [])
}
