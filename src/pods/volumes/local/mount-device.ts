import { mountsAt, toMountPoint } from '../../../system/mounts/mounts-at.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import { joinMountOptions } from '../claims/mount-options.ts'
import { UncertainMountError } from '../volume-kind.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'

const DEFAULT_FILE_SYSTEM = 'ext4'
const MOUNT_MS = 120_000

/** Where a block device is mounted for all pods that use it. */
function deviceMountPath(rootDirectory: string, name: string): string {
  return `${rootDirectory}/plugins/kubernetes.io/local-volume/mounts/${name}`
}

/**
 * Mounts the file system of a block device for the whole node and returns where. It is always mounted as the volume says: read-only is a matter
 * of each pod. A file system is made only where certainly nothing is.
 */
export async function mountDevice(
  deps: LocalVolumeDeps,
  volume: LocalVolume,
  options: { readonly readOnly: boolean },
  signal: AbortSignal,
): Promise<string> {
  const { mounter, devices, folders } = deps
  const { path: device, fsType } = volume
  const target = deviceMountPath(deps.rootDirectory, volume.name)
  if ((await mountsAt(mounter, target)).length > 0) return target
  const content = await devices.probe(device, signal)
  if (content.kind === 'other')
    throw new Error(`Cannot mount "${device}": ${content.what} is on it, expected a file system or nothing at all`)
  if (content.kind === 'blank') {
    if (options.readOnly)
      throw new Error(`Cannot mount "${device}": nothing is on it, and read-only it is not formatted`)
    await devices.format(device, fsType ?? DEFAULT_FILE_SYSTEM, signal)
  } else {
    await devices.check(device, signal)
  }
  const found = content.kind === 'fileSystem' ? content.type : undefined
  const fileSystem = fsType ?? found ?? DEFAULT_FILE_SYSTEM
  await folders.makeDirectory(target, 0o750)
  const request = { fileSystem, source: device, target, options: joinMountOptions(volume.mountOptions) }
  try {
    await mounter.mount({ ...request, deadlineMs: MOUNT_MS }, signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof MountError)) throw error
    // One that was given up while it ran may succeed yet.
    if (error.uncertain) throw new UncertainMountError(error.message, { cause: error })
    if (found === undefined || found === fileSystem) throw error
    throw new Error(`${error.message}; the volume asks for ${fileSystem}, but the device has ${found}`, {
      cause: error,
    })
  }
  return target
}

/** Unmounts the device after its last pod. Nothing that pods do not use is touched: others may have mounted it elsewhere. */
export async function unmountDevice(deps: LocalVolumeDeps, name: string, signal: AbortSignal): Promise<void> {
  const { mounter, folders, rootDirectory } = deps
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
  await folders.removeDirectory(target)
}
