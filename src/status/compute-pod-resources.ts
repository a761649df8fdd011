import { computePodLimits, computePodRequests } from '../model/compute-pod-requests.ts'
import type { ResourceAmounts } from '../model/compute-pod-requests.ts'
import type { PodStatus } from '../model/generated/core-v1.ts'
import type { Pod } from '../model/pod.ts'
import { formatQuantity } from '../model/quantity.ts'

/** What the whole pod was given: the sum of its containers, or what it says for itself, with its overhead. */
export function computePodResources(pod: Pod): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const requests = toTexts(computePodRequests(pod, { overhead: true }))
  const limits = toTexts(computePodLimits(pod, { overhead: true }))
  const resources = { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) }
  return { ...(requests === undefined ? {} : { allocatedResources: requests }), resources }
}

function toTexts(amounts: ResourceAmounts): Readonly<Record<string, string>> | undefined {
  if (amounts.size === 0) return undefined
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]))
}
