import type { Container } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** Why such a pod is rejected, in Kubernetes' own reason. */
export interface EmptyPoolRejection {
  readonly reason: 'EmptyPodSharedPoolError'
  readonly message: string
}

/** Amounts by resource. */
type Amounts = ReadonlyMap<string, bigint>

/**
 * Rejects a pod that is placed as a whole and has containers that share what the others leave of it, when those leave nothing. Init
 * containers run before the others: for them only what sidecars have is gone.
 */
export function findEmptyPool(
  { spec }: Pod,
  total: Amounts,
  /** What the container has for itself; empty when it shares. */
  needsOf: (container: Container) => Amounts,
): EmptyPoolRejection | undefined {
  const taken = new Map<string, bigint>()
  const findSpent = () => [...total].find(([name, size]) => (taken.get(name) ?? 0n) >= size)?.[0]
  let isShared = false
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const needs = needsOf(container)
    const endsEarly = spec.initContainers?.includes(container) === true && !isSidecar(container)
    if (!endsEarly) {
      isShared ||= needs.size === 0
      for (const [name, size] of needs) taken.set(name, (taken.get(name) ?? 0n) + size)
      continue
    }
    const spent = needs.size === 0 ? findSpent() : undefined
    if (spent !== undefined)
      return reject(
        `pod rejected, pod has shared init containers but no ${spent === 'cpu' ? 'cpus' : spent} available for them`,
      )
  }
  const spent = isShared ? findSpent() : undefined
  if (spent === undefined) return undefined
  const left = spent === 'cpu' ? 'cpus' : 'memory'
  return reject(
    `pod rejected, sum of exclusive container ${spent} requests equals pod budget, leaving no ${left} for shared containers`,
  )
}

function reject(message: string): EmptyPoolRejection {
  return { reason: 'EmptyPodSharedPoolError', message }
}
