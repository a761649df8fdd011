import { chmodSync, chownSync, lchownSync } from 'node:fs'
import type { OwnershipOutcome, OwnershipRequest } from '../guarded-files.ts'
import { hasCode } from '../../files/error-codes.ts'
import { holdTrusted } from './held-path.ts'
import type { HeldPath } from './held-path.ts'
import { walkTree } from './walk-tree.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

const SET_GROUP_ID = 0o2000
const SET_IDS = 0o6000
const ALL_BITS = 0o7777

/** Gives a whole tree to a group. The root comes last, so a root that is right means that all below it was done. */
export function setOwnership(request: OwnershipRequest, onEntry: () => void): OwnershipOutcome {
  const outcome = { entries: 0, failed: 0, firstFailure: undefined as string | undefined }
  const attempt = (apply: () => void) => {
    onEntry()
    outcome.entries += 1
    try {
      apply()
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      outcome.failed += 1
      outcome.firstFailure ??= errorMessage(error)
    }
  }
  using root = holdTrusted(request.root)
  if (request.onlyOnRootMismatch && isDone(root, request)) return outcome
  if (!root.stat().isDirectory()) {
    attempt(() => apply(root, request))
    return outcome
  }
  walkTree(root, {
    file: (directory, name) => attempt(() => applyToEntry(directory, name, request)),
    leave: (directory) => attempt(() => apply(directory, request)),
  })
  return outcome
}

function isDone(root: HeldPath, request: OwnershipRequest): boolean {
  const { gid, mode } = root.stat()
  const wanted = wantedBits(root.stat().isDirectory(), request) | SET_GROUP_ID
  return gid === request.group && (mode & wanted) === wanted
}

function applyToEntry(directory: HeldPath, name: Buffer, request: OwnershipRequest): void {
  using held = directory.hold(name)
  if (!held.stat().isSymbolicLink()) apply(held, request)
  else if (held.stat().gid !== request.group) lchownSync(directory.entry(name), -1, request.group)
}

function apply(held: HeldPath, request: OwnershipRequest): void {
  const stat = held.stat()
  const mode = stat.mode & ALL_BITS
  const wanted = mode | wantedBits(stat.isDirectory(), request)
  const isForeign = stat.gid !== request.group
  if (isForeign) chownSync(held.path, -1, request.group)
  // A change of the group takes the set-id bits away.
  if (wanted !== mode || (isForeign && (mode & SET_IDS) !== 0)) chmodSync(held.path, wanted)
}

function wantedBits(isDirectory: boolean, request: OwnershipRequest): number {
  const bits = request.readOnly ? 0o440 : 0o660
  return isDirectory ? bits | 0o110 | SET_GROUP_ID : bits
}
