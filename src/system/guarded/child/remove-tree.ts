import { rmdirSync, unlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { GuardedError } from './guarded-error.ts'
import { hasCode } from '../../files/error-codes.ts'
import { holdTrusted } from './held-path.ts'
import type { HeldPath } from './held-path.ts'
import { readMountPoints } from './mount-points.ts'
import { walkTree } from './walk-tree.ts'

// Enough for a process that dies while we remove; one that writes on for ever is reported as such.
const MAX_PASSES = 20

/** Removes a tree that is wholly on one mount, the root too. What is not there is no failure. */
export function removeTree(request: { readonly root: string }, onEntry: () => void): void {
  try {
    using parent = holdTrusted(dirname(request.root))
    const name = Buffer.from(basename(request.root))
    checkNoMounts(parent, request.root)
    for (let pass = 1; !removeOnce(parent, name, onEntry); pass += 1) {
      if (pass < MAX_PASSES) continue
      throw new GuardedError('ENOTEMPTY', `Cannot remove "${request.root}": something keeps writing into it`)
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

function checkNoMounts(parent: HeldPath, root: string): void {
  using held = parent.holdDirectory(Buffer.from(basename(root)))
  const [point] = readMountPoints(held.realPath())
  if (point !== undefined || held.mountId() !== parent.mountId())
    throw new GuardedError('EBUSY', `Cannot remove "${root}": "${point ?? root}" is mounted in it`)
}

/** False when something was added meanwhile. */
function removeOnce(parent: HeldPath, name: Buffer, onEntry: () => void): boolean {
  using root = parent.holdDirectory(name)
  let failure: unknown
  const attempt = (remove: () => void) => {
    onEntry()
    try {
      remove()
      return true
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return true
      // The rest goes all the same; EISDIR and ENOTDIR: it is something else than it was.
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EISDIR', 'ENOTDIR')) failure ??= error
      return false
    }
  }
  walkTree(root, {
    file: (directory, entry) => attempt(() => unlinkSync(directory.entry(entry))),
    leave: () => {},
    left: (directory, entry) => attempt(() => rmdirSync(directory.entry(entry))),
  })
  const isGone = failure === undefined && attempt(() => rmdirSync(parent.entry(name)))
  if (failure !== undefined) throw failure
  return isGone
}
