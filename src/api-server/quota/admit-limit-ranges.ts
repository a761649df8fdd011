import type { ObjectReader } from '../kinds/object-reader.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { findClaimFaults, findPodFaults, refuseByLimitRanges } from './apply-limit-ranges.ts'

/**
 * Refuses new pods and claims, and claims that grow, that are outside of the ranges of their namespace. Throws an ApiError.
 * Of pods that are there only a resize is judged, where it is made.
 */
export function admitByLimitRanges(change: Change, objects: ObjectReader): void {
  if (change.after !== undefined) refuseByLimitRanges(change.key, findFaults(change, objects))
}

function findFaults(change: Change, objects: ObjectReader): readonly string[] {
  const ranges = () => objects.list('limitranges', change.key.namespace)
  if (isChangeOf(change, 'pods')) {
    const spec = change.before === undefined ? change.after?.spec : undefined
    return spec === undefined ? [] : ranges().flatMap((range) => findPodFaults(spec, range))
  }
  if (!isChangeOf(change, 'persistentvolumeclaims') || change.after === undefined) return []
  const claim = change.after
  const isSame = JSON.stringify(change.before?.spec?.resources) === JSON.stringify(claim.spec?.resources)
  return isSame ? [] : ranges().flatMap((range) => findClaimFaults(claim, range))
}
