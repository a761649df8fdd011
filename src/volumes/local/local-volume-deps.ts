import type { BlockDevices } from '../../host/block-devices.ts'
import type { PathDescription } from '../../host/describe-path.ts'
import type { DeviceFiles } from '../../host/device-files.ts'
import type { Mounter } from '../../host/mounter.ts'
import type { VolumeFiles } from '../../host/volume-files.ts'
import type { VolumeGroupDeps } from '../set-volume-group.ts'

export const LOCAL_PLUGIN = 'kubernetes.io/local-volume'

/** What local volumes are brought with. */
export interface LocalVolumeDeps extends VolumeGroupDeps {
  readonly rootDirectory: string
  readonly mounter: Mounter
  readonly folders: Pick<VolumeFiles, 'makeDirectory' | 'removeDirectory'>
  readonly devices: BlockDevices
  readonly deviceFiles: DeviceFiles
  readonly describePath: (path: string, signal: AbortSignal) => Promise<PathDescription | undefined>
}

/** A volume that lies on this node, already looked at. */
export interface LocalVolume {
  /** Of the persistent volume. */
  readonly name: string
  readonly kind: 'directory' | 'blockDevice'
  /** Without links. */
  readonly path: string
  readonly fsType: string | undefined
  readonly mountOptions: readonly string[]
}
