import { newestInstance, surplusSandboxes } from '../../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../model/pod/observed-pod.ts'

export interface Leftovers {
  readonly containers: readonly ObservedContainer[]
  readonly sandboxes: readonly ObservedSandbox[]
}

/** How much of dead containers stays. */
export interface LeftoverRule {
  /** Dead instances of each container; at least one. */
  readonly kept: number
  /** Milliseconds since the epoch: younger ones stay in any case. */
  readonly createdBefore?: number
  /** The ids of those that are too many on the node. */
  readonly surplus?: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

/**
 * What a living pod no longer needs: dead instances beyond the newest few of each container, instances that were overtaken
 * before they ran, and dead or surplus sandboxes that are neither the newest nor hold a container. The newest dead instance of each container
 * always stays: it is where its exit code is. Only what is too many on the whole node goes without that.
 */
export function computeLeftovers(
  observed: ObservedPod,
  { kept: limit, createdBefore = Infinity, surplus = NONE }: LeftoverRule,
): Leftovers {
  const kept = new Map<string, number>()
  const containers = observed.containers.filter(({ id, name, state, createdAt }) => {
    if (state === 'running' || createdAt > createdBefore) return false
    if (surplus.has(id)) return true
    if (state !== 'exited') return newestInstance(observed, name)?.id !== id
    const before = kept.get(name) ?? 0
    kept.set(name, before + 1)
    return before >= Math.max(1, limit)
  })
  const needed = new Set(
    observed.containers.filter((container) => !containers.includes(container)).map(({ sandboxId }) => sandboxId),
  )
  const surplusReady = surplusSandboxes(observed)
  const sandboxes = observed.sandboxes.filter(
    (sandbox, index) => index > 0 && (!sandbox.ready || surplusReady.includes(sandbox)) && !needed.has(sandbox.id),
  )
  return { containers, sandboxes }
}
