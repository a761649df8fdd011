import type { ScsiDevices } from '../../../system/scsi/scsi-devices.ts'
import { basename } from 'node:path'
import { DiskKind } from '../disks/disk-kind.ts'
import type { DiskKindDeps } from '../disks/disk-kind.ts'
import { FC_PLUGIN, fcLinks, fcNameOf, parseFcFolder, toFcDisk } from '../disks/fc/fc-disk.ts'
import type { FcDisk, FcNames } from '../disks/fc/fc-disk.ts'

export interface FcKindDeps extends DiskKindDeps {
  readonly scsi: ScsiDevices
}

/** Disks of Fibre Channel, which the kernel has or finds by itself. */
export function createFcKind(deps: FcKindDeps): DiskKind<FcDisk> {
  const { scsi, diskFiles } = deps
  return new DiskKind(deps, {
    plugin: FC_PLUGIN,
    depth: 1,
    describe: toFcDisk,
    nameOf: fcNameOf,

    async attach(disk, { staging }, signal) {
      // First the folder: by it the disk is found again, whenever the agent dies.
      await diskFiles.makeDirectory(staging)
      const present = await findDevice(scsi, disk)
      if (present?.isJoined === true) return present.device
      // There may be more paths to it than the kernel has seen, or none yet.
      await scsi.scanAll(signal)
      const found = (await findDevice(scsi, disk)) ?? present
      if (found === undefined) throw new Error('no fc disk found')
      return found.device
    },

    async detach({ folder }, others, signal) {
      // The same disk may be here as files and as a device.
      if (others.includes(folder)) return
      const found = await findDevice(scsi, parseFcFolder(folder))
      if (found === undefined) return
      const paths = found.isJoined ? await scsi.pathsOf(found.device) : [basename(found.device)]
      // Its paths stay as long as something uses it.
      if (found.isJoined) await scsi.removeMultipath(found.device, signal)
      for (const path of paths) await scsi.removeDisk(path, signal)
    },
  })
}

/** The device of a disk, the one that joins all of its paths where there is one. */
async function findDevice(
  scsi: ScsiDevices,
  names: FcNames,
): Promise<{ readonly device: string; readonly isJoined: boolean } | undefined> {
  const { folder, links } = fcLinks(names)
  const present = (await scsi.links(folder)).filter((name) => links.some((link) => link.test(name)))
  let single: string | undefined
  for (const name of present) {
    const device = await scsi.follow(folder, name)
    const joined = device === undefined ? undefined : await scsi.multipathOf(device)
    if (joined !== undefined) return { device: joined, isJoined: true }
    single ??= device
  }
  return single === undefined ? undefined : { device: single, isJoined: false }
}
