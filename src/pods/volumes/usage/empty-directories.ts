import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import { outerMountPointsBelow } from '../../../system/mounts/mount-table.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { mountsAt } from '../../../system/mounts/mounts-at.ts'
import type { NoswapProbe } from '../../../system/directories/noswap-probe.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import type { VolumeFiles } from '../../../system/directories/volume-files.ts'
import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { computeEmptyDirMount, emptyDirFileSystem } from '../mounts/compute-empty-dir-mount.ts'
import { UncertainMountError } from '../volume-kind.ts'

/** A directory of the agent's own, and the name of its marker. */
export interface EmptyDirectory {
  readonly uid: PodUid
  readonly name: string
  readonly path: string
}

export interface DesiredEmptyDirectory extends EmptyDirectory {
  readonly pod: Pod
  /** As in emptyDir.medium. */
  readonly medium: string
  readonly sizeLimit: string | undefined
  readonly fsGroup: number | undefined
}

export interface EmptyDirectoriesDeps {
  readonly mounter: Pick<Mounter, 'table' | 'mount' | 'unmount'>
  readonly volumeFiles: VolumeFiles
  readonly guarded: Pick<GuardedFiles, 'setOwnership' | 'removeTree'>
  readonly noswap: NoswapProbe
  readonly nodeAllocatable: () => ResourceAmounts
  readonly log: Logger
}

/** The plugin whose markers say which directories are complete. */
export const EMPTY_DIR_PLUGIN = 'kubernetes.io/empty-dir'

const OPEN_TO_ALL = 0o777
const MOUNT_DEADLINE_MS = 30_000

export type EmptyDirectories = ReturnType<typeof createEmptyDirectories>

/** Empty directories for pods, on the disk or in memory: emptyDir volumes, and what volumes with content are built on. */
export function createEmptyDirectories(deps: EmptyDirectoriesDeps) {
  const { mounter, volumeFiles, guarded, log } = deps

  async function mount(desired: DesiredEmptyDirectory, signal: AbortSignal): Promise<void> {
    const noswap = desired.medium === 'Memory' && (await deps.noswap.supported(signal))
    const request = computeEmptyDirMount(desired, { allocatable: deps.nodeAllocatable(), noswap })
    try {
      await mounter.mount({ ...request, target: desired.path, deadlineMs: MOUNT_DEADLINE_MS }, signal)
    } catch (error) {
      if (error instanceof MountError && error.uncertain) throw new UncertainMountError(error.message, { cause: error })
      throw error
    }
  }

  /** A failure is no reason to hold up the pod: it may do without. */
  async function applyGroup(desired: DesiredEmptyDirectory, isFresh: boolean, signal: AbortSignal): Promise<void> {
    const { path, fsGroup: group } = desired
    if (group === undefined) return
    try {
      if (isFresh) return await volumeFiles.giveToGroup(path, group)
      const request = { root: path, group, readOnly: false, onlyOnRootMismatch: false }
      const { failed, firstFailure } = await guarded.setOwnership(request, () => {}, signal)
      if (failed > 0) throw new Error(`Cannot change ${failed} files, the first: ${firstFailure}`)
    } catch (error) {
      signal.throwIfAborted()
      log.warn('cannot give a volume to the group of its pod', { uid: desired.uid, volume: desired.name, group, error })
    }
  }

  return {
    /** True when it was not complete before. One that was is left as it is: what its pod changed since is the pod's business. */
    async setUp(desired: DesiredEmptyDirectory, signal: AbortSignal): Promise<boolean> {
      const { path } = desired
      const fileSystem = emptyDirFileSystem(desired.medium)
      const isMounted = fileSystem !== undefined && (await mountsAt(mounter, path)).at(-1)?.fileSystem === fileSystem
      const isThere = fileSystem === undefined ? await volumeFiles.isDirectory(path) : isMounted
      if (isThere && (await volumeFiles.hasMarker(toMarker(desired)))) return false
      let isFresh = false
      if (!isMounted) {
        isFresh = (await volumeFiles.makeDirectory(path, OPEN_TO_ALL)) || fileSystem !== undefined
        if (fileSystem !== undefined) await mount(desired, signal)
      }
      await applyGroup(desired, isFresh, signal)
      await volumeFiles.setMarker(toMarker(desired))
      return true
    },

    /** By what is mounted, not by what a spec says: there may be none any more. Unmounted before anything is deleted. */
    async tearDown(directory: EmptyDirectory, signal: AbortSignal): Promise<void> {
      await volumeFiles.removeMarker(toMarker(directory))
      // What containers have mounted in there stays when they are gone. It is the pod's, as all that is in there.
      const inside = outerMountPointsBelow(await mounter.table(), directory.path)
      for (const point of inside) await mounter.unmount(point, { force: false }, signal)
      await mounter.unmount(directory.path, { force: false }, signal)
      if (await volumeFiles.isDirectory(directory.path)) await guarded.removeTree(directory.path, signal)
    },
  }
}

function toMarker({ uid, name }: EmptyDirectory) {
  return { uid, plugin: EMPTY_DIR_PLUGIN, name }
}
