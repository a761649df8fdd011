import type { Clock } from '../../../base/async/clock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { Settings } from '../../../model/config/load-configuration.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { deviceFiles } from '../../../system/directories/device-files.ts'
import { createDiskFiles } from '../../../system/directories/disk-files.ts'
import { createVolumeFiles } from '../../../system/directories/volume-files.ts'
import { describePath } from '../../../system/files/describe-path.ts'
import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import { createBlockDevices } from '../../../system/mounts/block-devices.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { createIscsiAdmin } from '../../../system/scsi/iscsi-admin.ts'
import { createScsiDevices } from '../../../system/scsi/scsi-devices.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'
import type { NodeAttachments } from '../csi/csi-volume-deps.ts'
import { createFcKind } from '../kinds/fc.ts'
import { createIscsiKind } from '../kinds/iscsi.ts'
import type { VolumesInUse } from '../volumes-in-use.ts'
import { FC_PLUGIN } from './fc/fc-disk.ts'
import { ISCSI_PLUGIN } from './iscsi/iscsi-disk.ts'

export interface CreateDiskKindsDeps {
  readonly settings: { readonly config: Pick<Settings['config'], 'enableControllerAttachDetach'> }
  /** Undefined on a node without an API, where no controller attaches disks. */
  readonly cluster: object | undefined
  readonly host: { openMounter(): Mounter }
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  readonly attachments: NodeAttachments
  readonly inUse: VolumesInUse
  readonly guarded: GuardedFiles
  readonly objects: Pick<PodObjects, 'driverSecret'>
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Logger
}

/** Disks of this machine that come over a network. */
export function createDiskKinds(deps: CreateDiskKindsDeps, group: TaskGroup) {
  const { settings, cluster, rootDirectory, clock, inUse } = deps
  const scsi = createScsiDevices(deps)
  const common = {
    ...deps,
    controllerAttaches: cluster !== undefined && settings.config.enableControllerAttachDetach,
    mounter: deps.host.openMounter(),
    volumeFiles: createVolumeFiles({ rootDirectory }),
    devices: createBlockDevices(deps),
    deviceFiles,
    diskFiles: createDiskFiles({ rootDirectory }),
    describePath: (path: string, signal: AbortSignal) => describePath(clock, path, signal),
    scsi,
    group,
  }
  const iscsi = createIscsiKind({
    ...common,
    admin: createIscsiAdmin(deps),
    onInUse: (names) => inUse.set(ISCSI_PLUGIN, names),
  })
  const fc = createFcKind({ ...common, onInUse: (names) => inUse.set(FC_PLUGIN, names) })
  return [iscsi, fc]
}

/** The kinds that report what is in use. */
export const DISK_PLUGINS = [ISCSI_PLUGIN, FC_PLUGIN]
