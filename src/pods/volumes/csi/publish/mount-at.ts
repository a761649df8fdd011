import { mountsOnTheWay } from '../../../../system/mounts/mount-table.ts'
import type { MountEntry } from '../../../../system/mounts/mount-table.ts'

/**
 * What is mounted on a path below the root directory, the one that is seen last. The path itself is never resolved: a driver's file system may
 * not answer.
 */
export async function mountAt(
  mounter: { table(): Promise<readonly MountEntry[]> },
  path: string,
): Promise<MountEntry | undefined> {
  return mountsOnTheWay(await mounter.table(), path).findLast(({ point }) => point === path)
}
