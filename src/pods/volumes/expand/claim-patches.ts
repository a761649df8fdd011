import type { PersistentVolumeClaim, PersistentVolumeClaimCondition } from '../../../model/generated/core-v1.ts'
import type { ClaimPatch } from '../../objects/object-api.ts'

const RESIZE_CONDITIONS: ReadonlySet<string> = new Set([
  'FileSystemResizePending',
  'Resizing',
  'ControllerResizeError',
  'NodeResizeError',
])

/** This node is at it. */
export function expansionBegun(claim: PersistentVolumeClaim): ClaimPatch {
  return toPatch(claim, { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } })
}

/** The claim has the size from now on, and nothing is left to be done. */
export function expansionDone(claim: PersistentVolumeClaim, size: string): ClaimPatch {
  return toPatch(claim, {
    capacity: { storage: size },
    allocatedResourceStatuses: { storage: null },
    conditions: (claim.status?.conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.has(type)),
  })
}

/** The driver says that this size cannot be; infeasible: the user has to ask for another. */
export function expansionFailed(
  claim: PersistentVolumeClaim,
  failure: { readonly message: string; readonly infeasible: boolean; readonly time: string },
): ClaimPatch {
  const type = 'NodeResizeError'
  const message = `failed to expand pvc with ${failure.message}`
  const condition: PersistentVolumeClaimCondition = { type, status: 'True', lastTransitionTime: failure.time, message }
  const others = (claim.status?.conditions ?? []).filter((other) => other.type !== type)
  return toPatch(claim, {
    conditions: [...others, condition],
    ...(failure.infeasible && { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
  })
}

/** Only of the claim as it was read: its conditions are replaced as a whole. */
function toPatch({ metadata }: PersistentVolumeClaim, status: ClaimPatch['status']): ClaimPatch {
  return { metadata: { resourceVersion: metadata?.resourceVersion }, status }
}
