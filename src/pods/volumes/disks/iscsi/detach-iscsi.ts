import type { Logger } from '../../../../base/telemetry/logger.ts'
import type { IscsiAdmin } from '../../../../system/scsi/iscsi-admin.ts'
import type { ScsiDevices } from '../../../../system/scsi/scsi-devices.ts'
import { parseIscsiFolder } from './iscsi-disk.ts'
import type { IscsiFolder } from './iscsi-disk.ts'
import type { IscsiRecord } from './iscsi-record.ts'

export interface DetachIscsiDeps {
  readonly admin: IscsiAdmin
  readonly scsi: ScsiDevices
  readonly log: Logger
}

/** Takes a disk from the node: its devices, and the sessions with its target unless others use them. */
export async function detachIscsi(
  deps: DetachIscsiDeps,
  {
    disk,
    record,
    others,
  }: { readonly disk: IscsiFolder; readonly record: IscsiRecord | undefined; readonly others: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const { admin } = deps
  const { iqn, lun } = disk
  const used = others.flatMap((folder) => parseIscsiFolder(folder) ?? []).filter((other) => other.iqn === iqn)
  // The same disk may be here as files and as a device.
  if (!used.some((other) => other.lun === lun)) await removeDevices(deps, disk, signal)
  if (used.length > 0) return
  const { portals, iface, initiatorName, volumeName } = record ?? fromFolder(disk)
  for (const portal of portals) await admin.logout({ portal, iqn, iface }, signal)
  // Only what the agent made itself.
  if (initiatorName !== '' && iface === `${portals[0]}:${volumeName}`) await admin.removeInterface(iface, signal)
}

/** Without its record other portals are not known. */
function fromFolder({ portal, iface }: IscsiFolder): IscsiRecord {
  return { portals: [portal], iface, initiatorName: '', volumeName: '' }
}

/** What fails here may be put right by logging out. */
async function removeDevices({ scsi, log }: DetachIscsiDeps, disk: IscsiFolder, signal: AbortSignal): Promise<void> {
  const attempt = async (work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      signal.throwIfAborted()
      log.warn('cannot remove a device of an iSCSI disk, going on', { iqn: disk.iqn, error })
    })
  }
  const names = await scsi.disksOfTarget(disk.iqn, disk.lun)
  const joined = new Set<string>()
  for (const name of names) {
    const multipath = await scsi.multipathOf(name)
    if (multipath !== undefined) joined.add(multipath)
  }
  for (const multipath of joined) await attempt(() => scsi.removeMultipath(multipath, signal))
  for (const name of names) await attempt(() => scsi.removeDisk(name, signal))
}
