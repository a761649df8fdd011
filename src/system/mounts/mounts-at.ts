import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { mountsOnTheWay } from './mount-table.ts'
import type { MountEntry } from './mount-table.ts'

/** What is mounted on a directory, the one that is seen last; the kernel's table knows only paths without links. */
export async function mountsAt(
  mounts: { table(): Promise<readonly MountEntry[]> },
  target: string,
): Promise<readonly MountEntry[]> {
  const point = await toMountPoint(target)
  return mountsOnTheWay(await mounts.table(), point).filter((entry) => entry.point === point)
}

/**
 * The path of a mount point as the kernel writes it. Only the path to it is resolved: a stat of the point itself would wait for the server
 * of a network file system that is away.
 */
export async function toMountPoint(target: string): Promise<string> {
  const parent = await realpath(dirname(target)).catch(() => dirname(target))
  return join(parent, basename(target))
}
