import { mountsAt, toMountPoint } from '../../../system/mounts/mounts-at.ts'
import { joinMountOptions } from '../persistent-volumes/mount-options.ts'
import { mountBlockDevice } from '../mounts/mount-block-device.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'

/** Where a block device is mounted for all pods that use it. */
export function deviceMountPath(rootDirectory: string, name: string): string {
  return `${rootDirectory}/plugins/kubernetes.io/local-volume/mounts/${name}`
}

/** Mounts the file system of a block device for the whole node, as the volume says, and returns where: read-only is a matter of each pod. */
export async function mountDevice(
  deps: LocalVolumeDeps,
  volume: LocalVolume,
  { readOnly }: { readonly readOnly: boolean },
  signal: AbortSignal,
): Promise<string> {
  const { path: device, fsType } = volume
  const target = deviceMountPath(deps.rootDirectory, volume.name)
  const options = joinMountOptions(volume.mountOptions)
  await mountBlockDevice(deps, { device, target, fsType, options, readOnly }, signal)
  return target
}

/** Unmounts the device after its last pod. Nothing that pods do not use is touched: others may have mounted it elsewhere. */
export async function unmountDevice(deps: LocalVolumeDeps, name: string, signal: AbortSignal): Promise<void> {
  const { mounter, volumeFiles, rootDirectory } = deps
  const target = deviceMountPath(rootDirectory, name)
  const [mounted] = await mountsAt(mounter, target)
  if (mounted !== undefined) {
    const pods = await toMountPoint(`${rootDirectory}/pods`)
    const isUsed = (await mounter.table()).some(
      ({ device, point }) => device === mounted.device && point.startsWith(`${pods}/`),
    )
    if (isUsed) return
    await mounter.unmount(target, { force: false }, signal)
  }
  await volumeFiles.removeDirectory(target)
}
