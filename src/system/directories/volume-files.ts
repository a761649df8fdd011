import { constants } from 'node:fs'
import { chmod, chown, lstat, mkdir, open, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, unlessAbsent } from '../files/error-codes.ts'

const DIRECTORY_MODE = 0o750
const MARKER = 'ready'

export type VolumeFiles = ReturnType<typeof createVolumeFiles>

/**
 * The directories of volumes and the markers that say which are complete. Only what is the agent's own is touched, so nothing in here can
 * block; what a volume holds is the business of GuardedFiles, and removal is by rmdir.
 */
export function createVolumeFiles(options: { readonly rootDirectory: string }) {
  const podDirectory = (uid: string) => join(options.rootDirectory, 'pods', uid)
  const markerDirectory = ({ uid, plugin, name }: Marker) => join(podDirectory(uid), 'plugins', escape(plugin), name)
  return {
    /** Makes a volume's directory with exactly this mode, whatever the umask; true when it was not there. */
    async makeDirectory(path: string, mode: number): Promise<boolean> {
      const isNew = await makeWithParents(path)
      await chmod(path, mode)
      return isNew
    },

    /** Gives the root of a volume that holds nothing yet to a group, which may write and whose new files stay the group's. */
    async giveToGroup(path: string, group: number): Promise<void> {
      await chown(path, -1, group)
      // After the owner: a change of it may take bits away.
      await chmod(path, ((await lstat(path)).mode & 0o7777) | 0o2770)
    },

    /** Not for a path that something from the network may be mounted on. */
    async isDirectory(path: string): Promise<boolean> {
      return (await unlessAbsent(lstat(path), undefined))?.isDirectory() === true
    },

    /** Removes a directory that is empty; one that is not there is no failure. */
    async removeDirectory(path: string): Promise<void> {
      await unlessAbsent(rmdir(path), undefined)
    },

    /** A marker says that a volume is complete, for the next agent too. */
    async hasMarker(marker: Marker): Promise<boolean> {
      return (await unlessAbsent(lstat(join(markerDirectory(marker), MARKER)), undefined)) !== undefined
    },

    async setMarker(marker: Marker): Promise<void> {
      await makeWithParents(markerDirectory(marker))
      await using _ = await open(join(markerDirectory(marker), MARKER), constants.O_CREAT | constants.O_WRONLY, 0o640)
    },

    async removeMarker(marker: Marker): Promise<void> {
      await unlessAbsent(unlink(join(markerDirectory(marker), MARKER)), undefined)
      await unlessAbsent(rmdir(markerDirectory(marker)), undefined)
    },
  }
}

/** pods/<uid>/plugins/<escaped plugin>/<name>. */
interface Marker {
  readonly uid: string
  readonly plugin: string
  readonly name: string
}

/** Level by level, because "recursive" gives all of them the same mode less the umask. */
async function makeWithParents(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await lstat(path)).isDirectory()) return false
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
    await makeWithParents(dirname(path))
    // Another volume of the pod may have made it meanwhile.
    return await makeWithParents(path)
  }
}

function escape(plugin: string): string {
  return plugin.replaceAll('/', '~')
}
