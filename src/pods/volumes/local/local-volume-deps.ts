import type { BlockDevices } from '../../../system/mounts/block-devices.ts'
import type { PathDescription } from '../../../system/files/describe-path.ts'
import type { DeviceFiles } from '../../../system/directories/device-files.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import type { VolumeFiles } from '../../../system/directories/volume-files.ts'
import type { ExpandDeps } from '../expand/expand-volume.ts'
import type { VolumeGroupDeps } from '../mounts/set-volume-group.ts'

export const LOCAL_PLUGIN = 'kubernetes.io/local-volume'

/** What local volumes need. */
export interface LocalVolumeDeps extends VolumeGroupDeps, ExpandDeps {
  readonly rootDirectory: string
  readonly mounter: Mounter
  readonly volumeFiles: Pick<VolumeFiles, 'makeDirectory' | 'removeDirectory'>
  readonly devices: BlockDevices
  readonly deviceFiles: DeviceFiles
  readonly describePath: (path: string, signal: AbortSignal) => Promise<PathDescription | undefined>
}

/** A volume that lies on this node, already checked. */
export interface LocalVolume {
  /** Of the persistent volume. */
  readonly name: string
  readonly kind: 'directory' | 'blockDevice'
  /** Without links. */
  readonly path: string
  readonly fsType: string | undefined
  readonly mountOptions: readonly string[]
}
