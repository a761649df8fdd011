import type { Deployment, ReplicaSet } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeRolloutLimits } from './compute-rollout-limits.ts'
import { activeOf, allOf, availableIn, sizeOf, totalSize } from './deployment-sets.ts'
import type { DeploymentSets } from './deployment-sets.ts'

/** A set and the size that it is to get. */
export interface Resize {
  readonly set: Live<ReplicaSet>
  readonly size: number
}

/** The size that a new set begins with. */
export function computeFirstSize({ spec }: Live<Deployment>, old: readonly Live<ReplicaSet>[]): number {
  const { replicas = 1, strategy } = spec
  if (strategy?.type === 'Recreate') return replicas
  const room = replicas + computeRolloutLimits(spec).surge - totalSize(old)
  return Math.max(0, Math.min(room, replicas))
}

/** The next step of a rolling update: the new set grows, or old ones shrink; none when there is nothing to do before pods are ready. */
export function computeRollingStep({ spec }: Live<Deployment>, sets: DeploymentSets): readonly Resize[] {
  const { current, old } = sets
  if (current === undefined) return []
  const { replicas = 1 } = spec
  const { surge, unavailable } = computeRolloutLimits(spec)
  const all = allOf(sets)
  const size = sizeOf(current)
  if (size > replicas) return [{ set: current, size: replicas }]
  const growth = Math.min(replicas + surge - totalSize(all), replicas - size)
  if (growth > 0) return [{ set: current, size: size + growth }]
  return shrinkOld({ current, old, all, minAvailable: replicas - unavailable })
}

function shrinkOld(rollout: {
  readonly current: Live<ReplicaSet>
  readonly old: readonly Live<ReplicaSet>[]
  readonly all: readonly Live<ReplicaSet>[]
  readonly minAvailable: number
}): readonly Resize[] {
  const { current, all, minAvailable } = rollout
  const old = activeOf(rollout.old)
  const newUnavailable = sizeOf(current) - (current.status?.availableReplicas ?? 0)
  let room = totalSize(all) - minAvailable - newUnavailable
  if (room <= 0 || old.length === 0) return []
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]))
  // Pods that do not work are no loss; they may even be what keeps the update from going on.
  for (const set of old) {
    const unhealthy = Math.min(room, Math.max(0, sizeOf(set) - (set.status?.availableReplicas ?? 0)))
    sizes.set(set, sizeOf(set) - unhealthy)
    room -= unhealthy
  }
  let healthy = availableIn(all) - minAvailable
  for (const set of old) {
    if (healthy <= 0) break
    const size = sizes.get(set) ?? 0
    const removed = Math.min(size, healthy)
    sizes.set(set, size - removed)
    healthy -= removed
  }
  return [...sizes].filter(([set, size]) => size !== sizeOf(set)).map(([set, size]) => ({ set, size }))
}
