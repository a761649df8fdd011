import type { BlockDevices } from '../../../system/mounts/block-devices.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { mountsAt } from '../../../system/mounts/mounts-at.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import type { VolumeFiles } from '../../../system/directories/volume-files.ts'
import { UncertainMountError } from '../volume-kind.ts'

export interface MountBlockDeviceDeps {
  readonly mounter: Mounter
  readonly volumeFiles: Pick<VolumeFiles, 'makeDirectory'>
  readonly devices: Pick<BlockDevices, 'probe' | 'format' | 'check'>
}

export interface BlockMount {
  readonly device: string
  readonly target: string
  /** Undefined: what is on the device, and the usual one where nothing is. */
  readonly fsType: string | undefined
  readonly options: readonly string[]
  /** Nothing is written to the device, not even a file system where none is. */
  readonly readOnly: boolean
}

/** The device has another file system than its volume asks for. */
export class FileSystemMismatchError extends Error {
  override readonly name = 'FileSystemMismatchError'
}

const DEFAULT_FILE_SYSTEM = 'ext4'
const MOUNT_MS = 120_000

/** Mounts the file system of a block device, unless it is mounted there. A file system is made only where certainly nothing is. */
export async function mountBlockDevice(
  deps: MountBlockDeviceDeps,
  mount: BlockMount,
  signal: AbortSignal,
): Promise<void> {
  const { mounter, devices, volumeFiles } = deps
  const { device, target, fsType, options, readOnly } = mount
  if ((await mountsAt(mounter, target)).length > 0) return
  const content = await devices.probe(device, signal)
  if (content.kind === 'other')
    throw new Error(`Cannot mount "${device}": ${content.what} is on it, expected a file system or nothing at all`)
  if (content.kind === 'blank') {
    if (readOnly) throw new Error(`Cannot mount "${device}": nothing is on it, and read-only it is not formatted`)
    await devices.format(device, fsType ?? DEFAULT_FILE_SYSTEM, signal)
  } else if (!options.includes('ro')) {
    await devices.check(device, signal)
  }
  const found = content.kind === 'fileSystem' ? content.type : undefined
  const fileSystem = fsType ?? found ?? DEFAULT_FILE_SYSTEM
  await volumeFiles.makeDirectory(target, 0o750)
  try {
    await mounter.mount({ fileSystem, source: device, target, options, deadlineMs: MOUNT_MS }, signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof MountError)) throw error
    // One that was given up while it ran may succeed yet.
    if (error.uncertain) throw new UncertainMountError(error.message, { cause: error })
    if (found === undefined || found === fileSystem) throw error
    const message = `${error.message}; the volume asks for ${fileSystem}, but the device has ${found}`
    throw new FileSystemMismatchError(message, { cause: error })
  }
}
