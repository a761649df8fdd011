import type { ObjectMeta } from '../../../../model/generated/core-v1.ts'

const PREFIX = 'autoscaling.alpha.kubernetes.io/'
export const METRICS = `${PREFIX}metrics`
export const CURRENT_METRICS = `${PREFIX}current-metrics`
export const CONDITIONS = `${PREFIX}conditions`
export const BEHAVIOR = `${PREFIX}behavior`
/** Those that stand for fields which autoscaling/v1 does not have. In no other version, and not in the store, they mean anything. */
const ROUND_TRIP: readonly string[] = [
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
]

/** Metadata without the annotations that stand for fields. */
export function withoutRoundTrip(metadata: ObjectMeta): ObjectMeta {
  const { annotations } = metadata
  if (annotations === undefined || !ROUND_TRIP.some((name) => Object.hasOwn(annotations, name))) return metadata
  const { annotations: _, ...others } = metadata
  const left = Object.entries(annotations).filter(([name]) => !ROUND_TRIP.includes(name))
  return { ...others, ...(left.length > 0 && { annotations: Object.fromEntries(left) }) }
}
