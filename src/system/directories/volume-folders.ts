import { lstat, mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../files/error-codes.ts'

/** A volume directory on the disk, made by this agent or another. */
export interface FoundVolume {
  readonly uid: string
  readonly use: 'files' | 'device'
  /** The name of the plugin as its directory spells it. */
  readonly pluginDirectory: string
  readonly specName: string
  readonly path: string
}

// What a pod directory has of volumes; the first two by how they are used.
const FOLDERS = ['volumes', 'volumeDevices', 'volume-subpaths', 'plugins']

const USES = [
  { use: 'files', folder: 'volumes' },
  { use: 'device', folder: 'volumeDevices' },
] as const

/**
 * The directories around the volumes of pods. Names are listed and empty directories removed; nothing here opens a volume, so
 * nothing here can hang on one, and no data is ever removed. No link below the directory of all pods is followed: what is behind it is
 * not a pod's.
 */
export function createVolumeFolders(options: { readonly rootDirectory: string }) {
  const pods = join(options.rootDirectory, 'pods')
  return {
    /** Every volume that a pod has, or once had, a directory for. */
    async listVolumes(): Promise<readonly FoundVolume[]> {
      const uids = await namesIn(pods)
      const found = await Promise.all(
        uids.flatMap((uid) =>
          USES.map(
            async ({ use, folder }) => await listPlugins({ uid, use }, await ownFolder(join(pods, uid), folder)),
          ),
        ),
      )
      return found.flat()
    },

    /** Every pod that has anything around volumes, even if none is left: an empty directory for a plugin, for instance. */
    async listPods(): Promise<readonly string[]> {
      const found = await Promise.all(
        (await namesIn(pods)).map(async (uid) => {
          const names = await Promise.all(
            FOLDERS.map(async (folder) => namesIn(await ownFolder(join(pods, uid), folder))),
          )
          return names.flat().length > 0 ? [uid] : []
        }),
      )
      return found.flat()
    },

    async makeFolder(path: string): Promise<void> {
      await mkdir(path, { recursive: true, mode: 0o750 })
    },

    async holdsAnything(directory: string): Promise<boolean> {
      return (await namesIn(directory)).length > 0
    },

    /** Removes the empty directories around a pod's volumes, none at or behind these mount points, and returns those that stay. */
    async removeEmptyFolders(uid: string, points: ReadonlySet<string>): Promise<readonly string[]> {
      const left: string[] = []
      const pod = join(pods, uid)
      const folderIn = async (parent: string, name: string) =>
        points.has(parent) || points.has(join(parent, name)) ? undefined : await ownFolder(parent, name)
      if (points.has(pod)) return [pod]
      for (const folder of FOLDERS) {
        const path = join(pod, folder)
        for (const inner of await namesIn(await folderIn(pod, folder))) {
          const names = await namesIn(await folderIn(path, inner))
          for (const name of names) await removeOrNote(join(path, inner, name), left)
          await removeOrNote(join(path, inner), left)
        }
        await removeOrNote(path, left)
      }
      return left.filter((path) => !left.some((other) => other.startsWith(`${path}/`)))
    },
  }
}

async function listPlugins(
  pod: Pick<FoundVolume, 'uid' | 'use'>,
  folder: string | undefined,
): Promise<readonly FoundVolume[]> {
  if (folder === undefined) return []
  const plugins = await namesIn(folder)
  const found = await Promise.all(
    plugins.map(async (pluginDirectory) =>
      (await namesIn(await ownFolder(folder, pluginDirectory))).map((specName) => ({
        ...pod,
        pluginDirectory,
        specName,
        path: join(folder, pluginDirectory, specName),
      })),
    ),
  )
  return found.flat()
}

/** Removes a directory, which has to be empty; one that is not there is fine. */
async function removeFolder(path: string): Promise<void> {
  try {
    await rmdir(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

async function removeOrNote(path: string, left: string[]): Promise<void> {
  try {
    await removeFolder(path)
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOTDIR')) throw error
    left.push(path)
  }
}

/** Undefined when there is none, or a link in its place or in that of the directory that it is in. */
async function ownFolder(parent: string, name: string): Promise<string | undefined> {
  for (const path of [parent, join(parent, name)]) {
    const stat = await lstat(path).catch(() => undefined)
    if (stat?.isDirectory() !== true) return undefined
  }
  return join(parent, name)
}

async function namesIn(directory: string | undefined): Promise<readonly string[]> {
  if (directory === undefined) return []
  try {
    return await readdir(directory)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
