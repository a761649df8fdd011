import type { AtomicWriter } from '../../../system/files/payload/atomic-writer.ts'
import type { makeMountPoints } from '../../../system/mounts/make-mount-points.ts'
import type { Payload } from '../../../system/files/payload/payload.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { EmptyDirectories, EmptyDirectory } from '../usage/empty-directories.ts'
import type { VolumeKind } from '../volume-kind.ts'
import type { VolumePlace, DesiredVolume } from '../desired-volume.ts'

export interface ContentVolumeDeps {
  readonly directories: EmptyDirectories
  readonly writer: AtomicWriter
  readonly makeMountPoints: typeof makeMountPoints
  readonly log: Logger
}

export interface ContentVolume {
  readonly plugin: string
  /** What is secret never touches the disk. */
  readonly medium: '' | 'Memory'
  readonly gather: (desired: DesiredVolume, signal: AbortSignal) => Promise<Payload>
}

/** A kind of volume that shows what the agent puts into it, and nothing else: read-only, and updated again and again. */
export function createContentKind(deps: ContentVolumeDeps, { plugin, medium, gather }: ContentVolume): VolumeKind {
  const { directories, writer } = deps
  return {
    plugin,
    refreshed: true,
    measure: 'once',

    async setUp(desired, signal) {
      const { path, pod, fsGroup } = desired
      const payload = await gather(desired, signal)
      const directory = toDirectory(desired)
      const isFirst = await directories.setUp({ ...directory, pod, medium, sizeLimit: undefined, fsGroup }, signal)
      try {
        await deps.makeMountPoints(path, desired.nestedMountPoints)
        await writer.write({ directory: path, payload, group: fsGroup })
      } catch (error) {
        if (isFirst) await tearDownQuietly(deps, directory, signal)
        throw error
      }
      return { kind: 'files', hostPath: path, readOnly: true, selinuxRelabel: true, groups: [] }
    },

    async tearDown(place, signal) {
      await directories.tearDown(toDirectory(place), signal)
    },
  }
}

/** The name that the Go kubelet gives to a directory below such a volume, so that either agent knows the other's. */
function toDirectory({ uid, specName, path }: VolumePlace): EmptyDirectory {
  return { uid, name: `wrapped_${specName}`, path }
}

/** The first failure is what is reported; whatever is left goes with the pod. */
async function tearDownQuietly(
  { directories, log }: ContentVolumeDeps,
  directory: EmptyDirectory,
  signal: AbortSignal,
): Promise<void> {
  try {
    await directories.tearDown(directory, signal)
  } catch (error) {
    log.warn('cannot remove a volume that could not be filled', { uid: directory.uid, volume: directory.name, error })
  }
}
