import { KeyedLock } from '../../../base/async/keyed-lock.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'
import { readSecret } from '../csi/read-secret.ts'
import { DiskKind } from '../disks/disk-kind.ts'
import type { DiskKindDeps } from '../disks/disk-kind.ts'
import type { DiskProtocol } from '../disks/disk-protocol.ts'
import { attachIscsi } from '../disks/iscsi/attach-iscsi.ts'
import type { AttachIscsiDeps } from '../disks/iscsi/attach-iscsi.ts'
import { detachIscsi } from '../disks/iscsi/detach-iscsi.ts'
import { ISCSI_PLUGIN, parseIscsiFolder, toIscsiDisk } from '../disks/iscsi/iscsi-disk.ts'
import type { IscsiDisk } from '../disks/iscsi/iscsi-disk.ts'
import { formatIscsiRecord, parseIscsiRecord } from '../disks/iscsi/iscsi-record.ts'

export interface IscsiKindDeps extends DiskKindDeps, AttachIscsiDeps {
  readonly objects: Pick<PodObjects, 'driverSecret'>
}

/** Disks of iSCSI targets, through open-iscsi. */
export function createIscsiKind(deps: IscsiKindDeps): DiskKind<IscsiDisk> {
  return new DiskKind(deps, createProtocol(deps))
}

function createProtocol(deps: IscsiKindDeps): DiskProtocol<IscsiDisk> {
  const { diskFiles } = deps
  // A target has one set of sessions for all of its disks: none logs out while another logs in.
  const targets = new KeyedLock()
  const recordOf = (staging: string) => `${staging}/iscsi.json`
  return {
    plugin: ISCSI_PLUGIN,
    depth: 2,
    describe: toIscsiDisk,

    nameOf(folder) {
      const disk = parseIscsiFolder(folder)
      return disk && `${disk.portal}:${disk.iqn}:${disk.lun}`
    },

    async attach(disk, { staging }, signal) {
      const { chap } = disk
      const isSecret = chap.discovery || chap.session
      const secrets = isSecret ? await readSecret(deps, chap.secret, 'secretRef', signal) : undefined
      // Before the first login: by it all of them are found again, whenever the agent dies.
      await diskFiles.makeDirectory(staging)
      await diskFiles.writeRecord(recordOf(staging), formatIscsiRecord(disk))
      return await targets.hold(disk.iqn, () => attachIscsi(deps, { disk, secrets }, signal), signal)
    },

    async detach({ folder, staging }, others, signal) {
      const disk = parseIscsiFolder(folder)
      if (disk === undefined) throw new Error(`Cannot take "${staging}" from the node: its name says no disk`)
      const text = await diskFiles.readRecord(recordOf(staging))
      const record = text === undefined ? undefined : parseIscsiRecord(text)
      await targets.hold(disk.iqn, () => detachIscsi(deps, { disk, record, others }, signal), signal)
      await diskFiles.removeRecord(recordOf(staging))
    },
  }
}
