import { computePodLimits, computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { withAllocation } from '../../model/resources/pod-allocation.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { formatQuantity } from '../../model/resources/quantity.ts'

/**
 * What the whole pod was granted, and what it has when that is known: the sum of its containers, or what it says for itself, with its
 * overhead.
 */
export function computePodResources(
  pod: Pod,
  actuated: PodAllocation | undefined,
): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const podLevel = actuated?.pod !== undefined
  const actual = actuated === undefined ? pod : withAllocation(pod, actuated, { initContainers: true, podLevel })
  const allocated = toTexts(computePodRequests(pod, { overhead: true }))
  const requests = toTexts(computePodRequests(actual, { overhead: true }))
  const limits = toTexts(computePodLimits(actual, { overhead: true }))
  const resources = { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) }
  return { ...(allocated === undefined ? {} : { allocatedResources: allocated }), resources }
}

function toTexts(amounts: ResourceAmounts): Readonly<Record<string, string>> | undefined {
  if (amounts.size === 0) return undefined
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]))
}
