import { createHash } from 'node:crypto'
import type { Clock } from '../../../base/async/clock.ts'
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
  readonly clock: Clock
  readonly log: Logger
}

export interface ContentVolume {
  readonly plugin: string
  /** What is secret never touches the disk. */
  readonly medium: '' | 'Memory'
  readonly gather: (desired: DesiredVolume, signal: AbortSignal) => Promise<Payload>
}

interface WrittenContent {
  readonly digest: string
  readonly at: number
}

/**
 * A volume is asked for at each pass over its pod, and to read all of its files again costs more than the rest of a pass over a pod at rest. A change of what it has to show is
 * written at once; so long it may take until what somebody else did to its files is put right.
 */
const BELIEVED_MS = 600_000

/** A kind of volume that shows what the agent puts into it, and nothing else: read-only, and updated again and again. */
export function createContentKind(deps: ContentVolumeDeps, { plugin, medium, gather }: ContentVolume): VolumeKind {
  const { directories, writer, clock } = deps
  /** By path. */
  const written = new Map<string, WrittenContent>()
  const isWritten = (path: string, digest: string) => {
    const known = written.get(path)
    return known?.digest === digest && clock.monotonic() - known.at < BELIEVED_MS
  }
  return {
    plugin,
    refreshed: true,
    measure: 'once',

    async setUp(desired, signal) {
      const { path, pod, fsGroup } = desired
      const payload = await gather(desired, signal)
      const directory = toDirectory(desired)
      const isFirst = await directories.setUp({ ...directory, pod, medium, sizeLimit: undefined, fsGroup }, signal)
      const digest = computeDigest(payload, desired)
      try {
        if (isFirst || !isWritten(path, digest)) {
          written.delete(path)
          await deps.makeMountPoints(path, desired.nestedMountPoints)
          await writer.write({ directory: path, payload, group: fsGroup })
          written.set(path, { digest, at: clock.monotonic() })
        }
      } catch (error) {
        if (isFirst) await tearDownQuietly(deps, directory, signal)
        throw error
      }
      return { kind: 'files', hostPath: path, readOnly: true, selinuxRelabel: true, groups: [] }
    },

    async tearDown(place, signal) {
      written.delete(place.path)
      await directories.tearDown(toDirectory(place), signal)
    },
  }
}

/** Of all that is written, without keeping any of it. */
function computeDigest(payload: Payload, { fsGroup, nestedMountPoints }: DesiredVolume): string {
  const files = [...payload].map(([path, { mode, owner, content }]) => [path, mode, owner, content.length])
  const hash = createHash('sha256').update(JSON.stringify([fsGroup, nestedMountPoints, files]))
  for (const { content } of payload.values()) hash.update(content)
  return hash.digest('base64')
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
