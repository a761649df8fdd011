import { readdirSync, realpathSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeTarget, unmountAt } from './bind-target.ts'
import { hasCode } from '../../files/error-codes.ts'
import { readMountPoints } from './mount-points.ts'

/** How deep targets are below volume-subpaths: volume, container, index. */
const TARGET_DEPTH = 3

/**
 * Takes away the binds below a directory of volume-subpaths, latest first, then the targets and what is empty without them. Only the kernel's
 * table is asked what is mounted: a stat of the target itself could hang.
 */
export function releaseSubPaths(request: { readonly directory: string }, onEntry: () => void): void {
  try {
    const directory = realpathSync.native(request.directory)
    for (const point of readMountPoints(directory)) {
      unmountAt(point)
      onEntry()
    }
    removeEmpty(directory, TARGET_DEPTH, onEntry)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

function removeEmpty(directory: string, depth: number, onEntry: () => void): void {
  for (const entry of readdirSync(directory, { withFileTypes: true }).toReversed()) {
    const path = join(directory, entry.name)
    // A target is never emptied: it holds nothing, or it is not ours.
    if (entry.isDirectory() && depth > 0) removeEmpty(path, depth - 1, onEntry)
    else removeTarget(path)
    onEntry()
  }
  rmdirSync(directory)
}
