import type { MountEntry } from '../../../system/mounts/mount-table.ts'
import { mountsOnTheWay } from '../../../system/mounts/mount-table.ts'

/** Where pods have the very same directory mounted: its file system, and in there the same place. */
export function findPodUses(table: readonly MountEntry[], source: string, pods: string): readonly string[] {
  const around = mountsOnTheWay(table, source).at(-1)
  if (around === undefined) return []
  const inside = source.slice(around.point === '/' ? 0 : around.point.length)
  const root = `${around.root === '/' ? '' : around.root}${inside}` || '/'
  return table
    .filter((entry) => entry.device === around.device && entry.root === root && entry.point.startsWith(`${pods}/`))
    .map(({ point }) => point)
}
