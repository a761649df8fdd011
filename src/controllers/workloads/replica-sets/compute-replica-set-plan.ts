import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeDeletionOrder } from '../pods/compute-deletion-order.ts'

/** What a replica set has to do about the number of its pods. */
export interface ReplicaSetPlan {
  readonly create: number
  readonly remove: readonly Live<Pod>[]
}

// What is left is done in the next pass.
const MOST_AT_ONCE = 500

/** How a number of pods becomes the one that is asked for. */
export function computeReplicaSetPlan(active: readonly Live<Pod>[], replicas: number, now: number): ReplicaSetPlan {
  const missing = replicas - active.length
  if (missing >= 0) return { create: Math.min(missing, MOST_AT_ONCE), remove: [] }
  const order = -missing < active.length ? computeDeletionOrder(active, { now }) : active
  return { create: 0, remove: order.slice(0, Math.min(-missing, MOST_AT_ONCE)) }
}
