import type { CsiDriverObjects } from '../../../protocols/csi/csi-driver-objects.ts'
import type { CsiDrivers } from '../../../protocols/csi/csi-drivers.ts'
import type { BlockDevices } from '../../../system/mounts/block-devices.ts'
import type { CsiFiles } from '../../../system/directories/csi-files.ts'
import type { PathDescription } from '../../../system/files/describe-path.ts'
import type { DeviceFiles } from '../../../system/directories/device-files.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'
import type { VolumeGroupDeps } from '../mounts/set-volume-group.ts'

/** What the status of this node says of attached volumes, as the cluster has it. */
export interface NodeAttachments {
  /** The cluster knows that the volume is in use here, and does not detach it. */
  isInUse(name: string): boolean
  isAttached(name: string): boolean
  /** Resolves at the next change, or after ms. */
  changed(ms: number, signal: AbortSignal): Promise<void>
}

/** What volumes of CSI drivers need. */
export interface CsiVolumeDeps extends VolumeGroupDeps {
  readonly rootDirectory: string
  readonly nodeName: string
  /** A path below the root directory as drivers know it: they have --root-dir as it was given, links and all. */
  readonly toDriverPath: (path: string) => string
  readonly drivers: CsiDrivers
  readonly driverObjects: CsiDriverObjects
  readonly attachments: NodeAttachments
  /** False: this node is to attach volumes itself, which CSI does not allow. */
  readonly controllerAttaches: boolean
  readonly objects: Pick<PodObjects, 'driverSecret' | 'token' | 'claim' | 'persistentVolume' | 'patchClaimStatus'>
  readonly csiFiles: CsiFiles
  readonly mounter: Pick<Mounter, 'table' | 'bind' | 'unmount'>
  readonly devices: Pick<BlockDevices, 'hold' | 'release'>
  readonly deviceFiles: DeviceFiles
  readonly describePath: (path: string, signal: AbortSignal) => Promise<PathDescription | undefined>
  /** The node has as many volumes as it can: the pod has to go elsewhere. */
  readonly onLimitExceeded: (pod: Pod, driver: string, message: string) => void
}
