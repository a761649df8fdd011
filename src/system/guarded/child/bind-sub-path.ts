import type { PathInside } from '../guarded-files.ts'
import { bindAt, isMountPoint, makeTarget, removeTarget, shows, unmountAt } from './bind-target.ts'
import { GuardedError } from './guarded-error.ts'
import { holdInside } from './held-path.ts'
import type { HeldPath } from './held-path.ts'

// No pod stacks so many; it only ends a loop that could not end by itself.
const MAX_STACKED = 64

/** Binds what a path inside a volume leads to. The descriptor is held from the check to the mount, so nothing can be put in its place. */
export function bindSubPath(request: PathInside & { readonly target: string }): void {
  using source = holdInside(request)
  if (isMountPoint(request.target)) {
    if (shows(request.target, source)) return
    unmountAll(request.target)
  }
  try {
    makeTarget(request.target, source.stat().isDirectory())
    bind(source, request.target)
  } catch (error) {
    releaseTarget(request)
    throw error
  }
}

/** Leaves nothing mounted at a target, and no target. */
export function releaseTarget(request: { readonly target: string }): void {
  unmountAll(request.target)
  removeTarget(request.target)
}

function bind(source: HeldPath, target: string): void {
  bindAt(source, target)
  if (!isMountPoint(target) || !shows(target, source))
    throw new GuardedError('EIO', `Cannot bind "${target}": it does not show what was to be bound`)
}

function unmountAll(target: string): void {
  for (let count = 0; count < MAX_STACKED && isMountPoint(target); count += 1) unmountAt(target)
}
