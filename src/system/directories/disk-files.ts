import { lstat, readdir, readFile, readlink, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, removeFileDurably, writeFileDurably } from '../files/state/durable-file.ts'
import { unlessAbsent } from '../files/error-codes.ts'

export type DiskFiles = ReturnType<typeof createDiskFiles>

/** Where a disk of the network is on this node, for all pods. */
export interface FoundDisk {
  readonly use: 'files' | 'device'
  /** Below the folder of its plugin. */
  readonly folder: string
  readonly staging: string
}

const DIRECTORY_MODE = 0o750
const DEVICES = 'volumeDevices'
const LARGEST_RECORD = 1024 * 1024

/** The agent's own files and directories around disks of the network, where the Go kubelet has them. Nothing that is mounted is opened or removed. */
export function createDiskFiles(options: { readonly rootDirectory: string }) {
  const rootOf = (plugin: string, use: FoundDisk['use']) =>
    join(options.rootDirectory, 'plugins', plugin, ...(use === 'device' ? [DEVICES] : []))
  return {
    staging: (plugin: string, use: FoundDisk['use'], folder: string): string => join(rootOf(plugin, use), folder),

    async makeDirectory(path: string): Promise<void> {
      await makeFolder(path, DIRECTORY_MODE)
    },

    /** Removes a directory that is empty; one that is not there is no failure. */
    async removeDirectory(path: string): Promise<void> {
      await unlessAbsent(rmdir(path), undefined)
    },

    async readRecord(path: string): Promise<string | undefined> {
      const stat = await unlessAbsent(lstat(path), undefined)
      // Anything else is none of ours, and opening it might never end.
      if (stat?.isFile() !== true || stat.size > LARGEST_RECORD) return undefined
      return await unlessAbsent(readFile(path, 'utf8'), undefined)
    },

    /** On the disk when it resolves, so that the agent finds it after a crash. */
    async writeRecord(path: string, text: string): Promise<void> {
      await writeFileDurably(path, text, { mode: 0o644, folderMode: DIRECTORY_MODE })
    },

    async removeRecord(path: string): Promise<void> {
      await removeFileDurably(path)
    },

    /** Where a link of a pod's device leads; undefined for anything else. */
    async readLink(path: string): Promise<string | undefined> {
      return await readlink(path).catch(() => undefined)
    },

    /** All disks of a plugin that may be on the node; their folders are so many names deep. */
    async list(plugin: string, depth: 1 | 2): Promise<readonly FoundDisk[]> {
      const found = await Promise.all(
        (['files', 'device'] as const).map(async (use) => {
          const root = rootOf(plugin, use)
          const names = (await namesIn(root)).filter((name) => name !== DEVICES)
          const folders = depth === 1 ? names : (await Promise.all(names.map((name) => below(root, name)))).flat()
          return folders.map((folder) => ({ use, folder, staging: join(root, folder) }))
        }),
      )
      return found.flat()
    },
  }
}

async function below(root: string, name: string): Promise<readonly string[]> {
  return (await namesIn(join(root, name))).map((inner) => join(name, inner))
}

/** Directories only, and not what is mounted on them. */
async function namesIn(directory: string): Promise<readonly string[]> {
  const entries = await unlessAbsent(readdir(directory, { withFileTypes: true }), [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
