import { forbidden } from '../api-error.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { findClaimFaults, findPodFaults } from './apply-limit-ranges.ts'

/** Refuses new pods and claims, and claims that grow, that are outside of the ranges of their namespace. Throws an ApiError. */
export function admitByLimitRanges(change: Change, objects: ObjectReader): void {
  const { key, before, after } = change
  if (after === undefined) return
  const faults = findFaults(change, objects)
  if (faults.length === 0 || (before !== undefined && key.resource === 'pods')) return
  const why = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`
  throw forbidden({ group: '', resource: key.resource, name: key.name }, why ?? '')
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
