import { computePodRequests, parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import { canOwn, isPlacedWhole } from '../placement/pod-level.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import { hasPodResources } from '../../model/resources/has-pod-resources.ts'

/** Bytes by kind of memory: "memory", or huge pages of a size. */
export type MemoryNeeds = ReadonlyMap<string, bigint>

/** The memory that a container is to have of certain NUMA nodes: all of it, when it may own some. */
export function computeMemoryNeeds(pod: Pod, container: Pick<Container, 'resources'>, level: PodLevel): MemoryNeeds {
  return canOwn(pod, container, level) ? toNeeds(parseAmounts(container.resources?.requests)) : new Map()
}

/** The most that containers of the pod have at one time; all of the pod's own, when it is placed as a whole. */
export function computePodMemoryNeeds(pod: Pod, level: PodLevel): MemoryNeeds {
  if (isPlacedWhole(pod, level)) return toNeeds(parseAmounts(pod.spec.resources?.requests))
  const isPlaced = computeQosClass(pod) === 'Guaranteed' && !hasPodResources(pod)
  return isPlaced ? toNeeds(computePodRequests(pod, { overhead: false })) : new Map()
}

function toNeeds(amounts: ResourceAmounts): MemoryNeeds {
  const needs = [...amounts]
    .filter(([name]) => name === 'memory' || name.startsWith('hugepages-'))
    .map(([name, amount]) => [name, quantityValue(amount)] as const)
  return new Map(needs.filter(([, size]) => size > 0n))
}
