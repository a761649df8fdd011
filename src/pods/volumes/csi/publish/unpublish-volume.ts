import type { TearDownRequest } from '../../volume-kind.ts'
import { csiErrorText, requireDriver } from '../call-driver.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import { mountPath } from '../csi-paths.ts'
import { mountAt } from './mount-at.ts'
import { clearPublished } from './publish-volume.ts'
import { readVolumeData } from '../read-volume-data.ts'
import type { VolumeData } from '../volume-data.ts'

/** Has the driver take a volume from a pod, by the note in the volume's directory alone; returns what that said. */
export async function unpublishVolume(
  deps: CsiVolumeDeps,
  request: TearDownRequest,
  signal: AbortSignal,
): Promise<VolumeData | undefined> {
  const target = mountPath(request.path)
  const data = await readVolumeData(deps, request.path)
  if (data === undefined) {
    await unmountUnknown(deps, request.path, signal)
    return undefined
  }
  await callUnpublish(deps, request, { data, target }, signal)
  await clearPublished(deps, request.path)
  return data
}

/** Its owner is not known: unmounting leaves what it holds as it is, and only what is empty goes. */
async function unmountUnknown(
  { csiFiles, mounter, log }: CsiVolumeDeps,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const target = mountPath(path)
  if ((await mountAt(mounter, target)) !== undefined) {
    log.warn('a CSI volume has no note of its driver, unmounting it without', { path: target })
    await mounter.unmount(target, { force: false }, signal)
  }
  await csiFiles.removeIfEmpty(target)
  await csiFiles.removeIfEmpty(path)
}

export async function callUnpublish(
  { drivers, toDriverPath }: CsiVolumeDeps,
  { specName, noteStep }: TearDownRequest,
  { data, target }: { readonly data: VolumeData; readonly target: string },
  signal: AbortSignal,
): Promise<void> {
  const { driverName, volumeHandle: volumeId } = data
  const call = () =>
    requireDriver(drivers, driverName).unpublish({ volumeId, targetPath: toDriverPath(target) }, signal)
  const step = `NodeUnpublishVolume of CSI driver ${driverName} for volume "${specName}"`
  try {
    await (noteStep?.(step, call) ?? call())
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(csiErrorText(error), { cause: error })
  }
}
