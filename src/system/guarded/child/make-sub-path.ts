import { chmodSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { PathInside } from '../guarded-files.ts'
import { GuardedError } from './guarded-error.ts'
import { hasCode } from '../../files/error-codes.ts'
import { checkRelative, holdTrusted, namesBelow, splitPath, walkDown } from './held-path.ts'
import type { HeldPath } from './held-path.ts'

/** Makes the missing directories of a path, with the mode of the root. No link is followed where something is made. */
export function makeSubPath(inside: PathInside): void {
  const names = splitPath(Buffer.from(checkRelative(inside.path))).filter((name) => name.toString() !== '.')
  const root = realpathSync.native(inside.root, 'buffer')
  const { there, missing } = findExisting(inside.root, names)
  if (missing.length === 0) return
  using top = holdTrusted(root)
  const mode = top.stat().mode & 0o7777
  let held = walkDown(root, namesBelow(root, there, inside.path))
  try {
    for (const name of missing) {
      const next = makeDirectory(held, name, mode)
      held[Symbol.dispose]()
      held = next
    }
  } finally {
    held[Symbol.dispose]()
  }
}

/** The part of the path that is there, with its links resolved, and the names that are not. */
function findExisting(root: string, names: readonly Buffer[]) {
  for (let count = names.length; ; count -= 1) {
    try {
      const path = join(root, ...names.slice(0, count).map(String))
      return { there: realpathSync.native(path, 'buffer'), missing: names.slice(count) }
    } catch (error) {
      if (count === 0 || !hasCode(error, 'ENOENT')) throw error
    }
  }
}

function makeDirectory(parent: HeldPath, name: Buffer, mode: number): HeldPath {
  const isNew = makeIfMissing(parent, name)
  try {
    const made = parent.holdDirectory(name)
    // The set-group-id bit of the root is not among what mkdir takes.
    if (isNew) chmodSync(made.path, mode)
    return made
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR', 'ELOOP')) throw error
    throw new GuardedError('ENOTDIR', `Cannot make "${name.toString()}": it is there already and no directory`)
  }
}

function makeIfMissing(parent: HeldPath, name: Buffer): boolean {
  try {
    mkdirSync(parent.entry(name), { mode: 0o700 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
