import { computePodPaths } from '../containers/pod-paths.ts'
import type { GuardedFiles } from '../../system/guarded/guarded-files.ts'
import { mountPointsBelow, outerMountPointsBelow } from '../../system/mounts/mount-table.ts'
import type { Mounter } from '../../system/mounts/mounter.ts'
import type { FoundVolume } from '../../system/directories/volume-folders.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { TearDownRequest, VolumeKind } from './volume-kind.ts'
import { subPathsDirectory } from './mounts/volume-paths.ts'

/** The directories around volumes. */
export interface VolumeFolders {
  listVolumes(): Promise<readonly FoundVolume[]>
  /** UIDs of pods that have anything around volumes, even if none is left. */
  listPods(): Promise<readonly string[]>
  makeFolder(path: string): Promise<void>
  holdsAnything(directory: string): Promise<boolean>
  /** Removes the empty directories around a pod's volumes, none at or behind these mount points, and returns those that stay. */
  removeEmptyFolders(uid: PodUid, points: ReadonlySet<string>): Promise<readonly string[]>
}

export interface TakeDownDeps {
  readonly rootDirectory: string
  readonly mounter: Pick<Mounter, 'table' | 'unmount'>
  readonly guarded: Pick<GuardedFiles, 'releaseSubPaths'>
  readonly folders: VolumeFolders
  readonly log: Logger
}

/**
 * Takes one volume of a pod away: first what containers saw of its parts, then the volume. One of an unknown
 * kind is only unmounted: what it holds is not ours.
 */
export async function takeDownVolume(
  deps: TakeDownDeps,
  { place, kind }: { readonly place: TearDownRequest; readonly kind: VolumeKind | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { directory } = computePodPaths(deps.rootDirectory, place.uid)
  await releaseParts(deps, subPathsDirectory(directory, place.specName), signal)
  if (kind !== undefined) return await kind.tearDown(place, signal)
  await unmountBelow(deps, place.path, signal)
  await deps.mounter.unmount(place.path, { force: false }, signal)
}

/**
 * Removes what is left when no volume of a pod is: parts of volumes, and directories that hold nothing. Whatever is still mounted below the
 * directory of the pod is neither a volume nor in one, so it is not the pod's: it stays, and keeps the directories around it.
 */
export async function removeVolumeRest(deps: TakeDownDeps, uid: PodUid, signal: AbortSignal): Promise<void> {
  const { directory } = computePodPaths(deps.rootDirectory, uid)
  await releaseParts(deps, `${directory}/volume-subpaths`, signal)
  const points = new Set(mountPointsBelow(await deps.mounter.table(), directory))
  const left = await deps.folders.removeEmptyFolders(uid, points)
  // Data that no volume of ours has left there is not ours to remove.
  if (left.length > 0) deps.log.warn('volume directories hold something, they stay', { uid, left })
}

/** Most pods use no parts of volumes: then no process is started either. */
async function releaseParts({ folders, guarded }: TakeDownDeps, directory: string, signal: AbortSignal): Promise<void> {
  if (await folders.holdsAnything(directory)) await guarded.releaseSubPaths(directory, signal)
}

async function unmountBelow({ mounter }: TakeDownDeps, directory: string, signal: AbortSignal): Promise<void> {
  const points = outerMountPointsBelow(await mounter.table(), directory)
  for (const point of points) await mounter.unmount(point, { force: false }, signal)
}
