import type { Deployment, ReplicaSet } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeRolloutLimits } from './compute-rollout-limits.ts'
import type { Resize } from './compute-rolling-step.ts'
import {
  activeOf,
  allOf,
  annotationNumber,
  compareAges,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  sizeOf,
  totalSize,
} from './deployment-sets.ts'
import type { DeploymentSets } from './deployment-sets.ts'

/** Whether the deployment was scaled since it last sized its sets. */
export function computeIsScaling({ spec }: Live<Deployment>, sets: DeploymentSets): boolean {
  const { replicas = 1 } = spec
  return activeOf(allOf(sets)).some((set) => {
    const desired = annotationNumber(set, DESIRED_REPLICAS)
    return desired !== undefined && desired !== replicas
  })
}

/** How the sets follow a new number of replicas, in the middle of a rollout too: each in proportion to its size. */
export function computeScaling(deployment: Live<Deployment>, sets: DeploymentSets): readonly Resize[] {
  const { replicas = 1, strategy } = deployment.spec
  const active = activeOf(allOf(sets))
  if (active.length <= 1) {
    const only = active[0] ?? sets.current ?? sets.old.at(-1)
    if (only === undefined) return []
    const known = annotationNumber(only, DESIRED_REPLICAS)
    // A set that got its size from elsewhere still has to learn the number, or it would count as unscaled for ever.
    const isDone = sizeOf(only) === replicas && (known === undefined || known === replicas)
    return isDone ? [] : [{ set: only, size: replicas }]
  }
  if (isSaturated(deployment, sets.current)) return activeOf(sets.old).map((set) => ({ set, size: 0 }))
  if (strategy?.type === 'Recreate') return active.map((set) => ({ set, size: sizeOf(set) }))
  return computeShares(deployment, active)
}

function isSaturated({ spec }: Live<Deployment>, current: Live<ReplicaSet> | undefined): boolean {
  const { replicas = 1 } = spec
  return (
    current !== undefined &&
    sizeOf(current) === replicas &&
    annotationNumber(current, DESIRED_REPLICAS) === replicas &&
    (current.status?.availableReplicas ?? 0) === replicas
  )
}

/** Every active set is in the result, also those whose size stays: they have to learn the new number of replicas. */
function computeShares(deployment: Live<Deployment>, active: readonly Live<ReplicaSet>[]): readonly Resize[] {
  const { replicas = 1 } = deployment.spec
  const most = replicas + computeRolloutLimits(deployment.spec).surge
  const toAdd = (replicas > 0 ? most : 0) - totalSize(active)
  const isAdding = toAdd > 0
  const ordered = active.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (isAdding ? compareAges(b, a) : compareAges(a, b)))
  let left = toAdd
  const shares = ordered.map((set) => {
    const wanted = computeShare(deployment, set, most)
    const share = isAdding ? Math.max(0, Math.min(wanted, left)) : Math.min(0, Math.max(wanted, left))
    left -= share
    return { set, size: sizeOf(set) + share }
  })
  return shares.map(({ set, size }, index) => ({ set, size: Math.max(0, index === 0 ? size + left : size) }))
}

/** By how much a set changes when the whole becomes larger or smaller. */
function computeShare({ spec, status }: Live<Deployment>, set: Live<ReplicaSet>, most: number): number {
  if ((spec.replicas ?? 1) === 0) return -sizeOf(set)
  const before = annotationNumber(set, MAX_REPLICAS) || (status?.replicas ?? 0)
  return before === 0 ? 0 : Math.round((sizeOf(set) * most) / before) - sizeOf(set)
}
