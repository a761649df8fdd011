import { computeQosClass } from '../../../model/resources/compute-qos-class.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../../model/resources/quantity.ts'
import { hasPodResources } from '../../cgroups/has-pod-resources.ts'

/**
 * How many CPUs a container gets exclusively: all it asks for, when its pod is Guaranteed and that is a whole number; otherwise none.
 * Pods with resources of their own share all they have.
 */
export function computeExclusiveCount(pod: Pod, { resources }: Pick<Container, 'resources'>): number {
  if (computeQosClass(pod) !== 'Guaranteed' || hasPodResources(pod)) return 0
  const request = parseQuantity(resources?.requests?.['cpu'] ?? '0')
  const count = quantityValue(request)
  return count * 1000n === quantityMilliValue(request) ? Number(count) : 0
}

/** How many CPUs containers of the pod have for themselves at one time, at most. */
export function computePodExclusiveCount(pod: Pod): number {
  let [sidecars, peak] = [0, 0]
  for (const container of pod.spec.initContainers ?? []) {
    const count = computeExclusiveCount(pod, container)
    peak = Math.max(peak, sidecars + count)
    if (isSidecar(container)) sidecars += count
  }
  const regular = pod.spec.containers.reduce((sum, container) => sum + computeExclusiveCount(pod, container), 0)
  return Math.max(peak, sidecars + regular)
}
