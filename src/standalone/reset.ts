import { mountPointsBelow, readMountTable } from '../system/mounts/mount-table.ts'
import { realFolder, removeTree } from '../system/files/files-and-folders.ts'
import { runDown } from './down.ts'
import type { DownDeps } from './down.ts'
import { checkRoot } from './node/check-requirements.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout, forgottenPaths } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'

export interface ResetOptions {
  readonly state: string
  /** The user has agreed. */
  readonly yes: boolean
}

/** Stops the node and forgets its objects, keys, pods and their data; the next "up" begins empty, with the images, manifests and settings. */
export async function runReset(deps: DownDeps, options: ResetOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  const layout = computeNodeLayout(await realFolder(options.state))
  if ((await readNodeRecord(layout.record)) === undefined) {
    deps.say(`There is no node in ${layout.state}.`)
    return
  }
  if (!options.yes) {
    const loss = `it ends all pods and removes all objects of the API, its keys, the data of pods and of volumes that were made for claims, and the logs in ${layout.state}`
    throw new NodeError(
      `Cannot reset without --yes: ${loss}; images, manifests and settings stay`,
      exitCodes.wrongArguments,
    )
  }
  await runDown(deps, { state: layout.state, purge: false }, signal)
  const paths = forgottenPaths(layout)
  const mounted = mountPointsBelow(await readMountTable(), layout.state).find((point) =>
    paths.some((path) => point === path || point.startsWith(`${path}/`)),
  )
  // Removing through a mount would remove what is not the node's.
  if (mounted !== undefined)
    throw new NodeError(`Cannot reset: "${mounted}" is still mounted; unmount it first`, exitCodes.failed)
  for (const path of paths) await removeTree(path)
  deps.say('The node is forgotten: "deckhand up" begins with an empty API. Images, manifests and settings were kept.')
}
