import { computePodRequests, parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import { hasPodResources } from '../cgroups/has-pod-resources.ts'

/** Bytes by kind of memory: "memory", or huge pages of a size. */
export type MemoryNeeds = ReadonlyMap<string, bigint>

/** The memory that a container is to have of certain NUMA nodes: all of it, when its pod is Guaranteed. Pods with resources of their own have none. */
export function computeMemoryNeeds(pod: Pod, { resources }: Pick<Container, 'resources'>): MemoryNeeds {
  return isPlaced(pod) ? toNeeds(parseAmounts(resources?.requests)) : new Map()
}

/** The most that containers of the pod have at one time. */
export function computePodMemoryNeeds(pod: Pod): MemoryNeeds {
  return isPlaced(pod) ? toNeeds(computePodRequests(pod, { overhead: false })) : new Map()
}

function isPlaced(pod: Pod): boolean {
  return computeQosClass(pod) === 'Guaranteed' && !hasPodResources(pod)
}

function toNeeds(amounts: ResourceAmounts): MemoryNeeds {
  const needs = [...amounts]
    .filter(([name]) => name === 'memory' || name.startsWith('hugepages-'))
    .map(([name, amount]) => [name, quantityValue(amount)] as const)
  return new Map(needs.filter(([, size]) => size > 0n))
}
