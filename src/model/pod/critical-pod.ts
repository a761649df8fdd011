import { CONFIG_MIRROR_ANNOTATION, isStaticPod } from './pod.ts'
import type { Pod } from './pod.ts'

// The lowest priority of the two classes that the system keeps for itself.
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

/** A pod that the node must not go without: it may push others aside and is spared by eviction. */
export function isCriticalPod(pod: Pod): boolean {
  return (
    isStaticPod(pod) ||
    pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined ||
    (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY
  )
}

/** A critical pod of the highest class: the kernel kills it as late as a Guaranteed one. */
export function isNodeCriticalPod(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical'
}
