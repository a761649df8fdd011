import { computeQosClass } from '../../model/compute-qos-class.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod.ts'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../model/quantity.ts'

/**
 * How many CPUs a container is to have for itself: all it asks for, when its pod is Guaranteed and that is a whole number; otherwise none.
 * Pods with resources of their own share all they have.
 */
export function computeExclusiveCount(pod: Pod, { resources }: Pick<Container, 'resources'>): number {
  if (computeQosClass(pod) !== 'Guaranteed' || hasPodResources(pod)) return 0
  const request = parseQuantity(resources?.requests?.['cpu'] ?? '0')
  const count = quantityValue(request)
  return count * 1000n === quantityMilliValue(request) ? Number(count) : 0
}

function hasPodResources({ spec }: Pod): boolean {
  const { requests = {}, limits = {} } = spec.resources ?? {}
  return [...Object.keys(requests), ...Object.keys(limits)].some(
    (name) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'),
  )
}
