import type { StatefulSet } from '../../../model/generated/api-groups.ts'
import type { OwnerReference, PersistentVolumeClaim } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'

/** The owner that a claim goes with: its set, its pod when that is one too many, or none. */
export function computeClaimOwner({ spec }: Live<StatefulSet>, isSurplus: boolean): 'set' | 'pod' | 'none' {
  const { whenScaled, whenDeleted } = spec.persistentVolumeClaimRetentionPolicy ?? {}
  if (isSurplus && whenScaled === 'Delete') return 'pod'
  return whenDeleted === 'Delete' ? 'set' : 'none'
}

/** The owners that a claim gets; undefined when they are right, or when another controller has it. */
export function computeClaimOwners(
  { metadata }: Live<PersistentVolumeClaim>,
  wanted: OwnerReference | undefined,
  /** Those that could have been set before: of the set and of its pods. */
  isOurs: (reference: OwnerReference) => boolean,
): readonly OwnerReference[] | undefined {
  const present = metadata.ownerReferences ?? []
  if (present.some((each) => each.controller === true && !isOurs(each))) return undefined
  const others = present.filter((each) => !isOurs(each))
  const isRight =
    wanted === undefined
      ? others.length === present.length
      : others.length === present.length - 1 && present.some(({ uid }) => uid === wanted.uid)
  if (isRight) return undefined
  return wanted === undefined ? others : [...others, wanted]
}
