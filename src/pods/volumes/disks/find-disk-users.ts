import { basename } from 'node:path'
import type { MountEntry } from '../../../system/mounts/mount-table.ts'
import type { VolumePlace } from '../desired-volume.ts'

/** The volumes of pods that are on a disk, by what the kernel has mounted. Links: where the devices of pods lead. */
export function findDiskUsers(
  table: readonly MountEntry[],
  { staging, use }: { readonly staging: string; readonly use: 'files' | 'device' },
  places: readonly VolumePlace[],
  links: ReadonlyMap<string, string | undefined>,
): readonly VolumePlace[] {
  if (use === 'device') {
    return places.filter(({ uid, path }) =>
      table.some(({ point, root }) => point === `${staging}/${uid}` && isSameDevice(root, links.get(path))),
    )
  }
  const mounted = table.findLast(({ point }) => point === staging)
  if (mounted === undefined) return []
  return places.filter(({ path }) => table.some(({ point, device }) => point === path && device === mounted.device))
}

/** Where the device of a pod is bound on the node; undefined when it is not. */
export function findDeviceFolder(
  table: readonly MountEntry[],
  { root, uid, device }: { readonly root: string; readonly uid: string; readonly device: string | undefined },
): string | undefined {
  const bound = table.find(
    (entry) =>
      entry.point.startsWith(`${root}/`) && entry.point.endsWith(`/${uid}`) && isSameDevice(entry.root, device),
  )
  return bound?.point.slice(0, -uid.length - 1)
}

/** A file of /dev that is bound elsewhere shows its name there. */
function isSameDevice(root: string, device: string | undefined): boolean {
  return device !== undefined && basename(root) === basename(device)
}

/** The SELinux label that something is mounted with; empty for none. */
export function findMountLabel(table: readonly MountEntry[], staging: string): string {
  const options = table.findLast(({ point }) => point === staging)?.superOptions.join(',') ?? ''
  // The kernel quotes a label with commas.
  return (
    /(?:^|,)context=(?:"([^"]*)"|([^,]*))/
      .exec(options)
      ?.slice(1)
      .find((label) => label !== undefined) ?? ''
  )
}
