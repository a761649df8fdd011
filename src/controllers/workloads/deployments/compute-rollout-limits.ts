import type { DeploymentSpec } from '../../../model/generated/api-groups.ts'
import { resolveIntOrPercent } from '../../engine/int-or-percent.ts'

/** How far the number of pods may stray from what is asked for while they are replaced. */
export interface RolloutLimits {
  readonly surge: number
  readonly unavailable: number
}

/** Pods that have no room for a pod above the number nor below it would never be replaced: then one may be missing. */
export function computeRolloutLimits(spec: DeploymentSpec): RolloutLimits {
  const { replicas = 1, strategy } = spec
  if (strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 }
  const { maxSurge, maxUnavailable } = strategy?.rollingUpdate ?? {}
  const surge = resolveIntOrPercent(maxSurge, replicas, 'up')
  const resolved = resolveIntOrPercent(maxUnavailable, replicas, 'down')
  const unavailable = surge === 0 && resolved === 0 ? 1 : resolved
  return { surge, unavailable: replicas === 0 ? 0 : Math.min(unavailable, replicas) }
}
