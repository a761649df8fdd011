import type { MountEntry } from '../../system/mounts/mount-table.ts'
import { outerMountPointsBelow } from '../../system/mounts/mount-table.ts'
import type { NodeLayout } from './node-layout.ts'

/**
 * The mount points that runtime and agent made, in an order in which they can go. All others in the state folder are the user's, such as a disk
 * for the folder itself or for the images, and what lies in a mount of ours goes with it.
 */
export function findOwnMounts(table: readonly MountEntry[], layout: NodeLayout): readonly string[] {
  const below = ownFolders(layout).flatMap((folder) => outerMountPointsBelow(table, folder))
  return hasOwnRootMount(table, layout) ? [...below, layout.agentRoot] : below
}

/** Folders in which only runtime and agent mount; one of them may itself be a disk of the user's. */
function ownFolders({ containerd, agentRoot }: NodeLayout): readonly string[] {
  return [
    containerd.state,
    `${containerd.root}/tmpmounts`,
    `${containerd.folder}/overlay-trial`,
    `${agentRoot}/pods`,
    `${agentRoot}/plugins`,
  ]
}

/** True when the agent's folder is mounted on itself, as the agent does, and nothing of the user's would go with that mount. */
function hasOwnRootMount(table: readonly MountEntry[], layout: NodeLayout): boolean {
  const top = table.findLast(({ point }) => point === layout.agentRoot)
  const parent = table.find(({ id }) => id === top?.parentId)
  if (top === undefined || parent === undefined) return false
  const inside = parent.point === top.point ? '' : top.point.slice(parent.point === '/' ? 0 : parent.point.length)
  const expected = `${parent.root === '/' ? '' : parent.root}${inside}` || '/'
  if (top.device !== parent.device || top.root !== expected) return false
  const own = ownFolders(layout)
  return !table.some(({ parentId, point }) => {
    return parentId === top.id && !own.some((folder) => point.startsWith(`${folder}/`))
  })
}
