import { computePodRequests } from '../compute-pod-requests.ts'
import type { ResourceAmounts } from '../compute-pod-requests.ts'
import { isExtendedResource } from '../is-extended-resource.ts'
import type { Pod } from '../../pod/pod.ts'
import { amountOf } from '../resource-units.ts'

/** A resource of which the node has too little left. CPU is in thousandths. */
export interface Shortage {
  readonly resource: string
  readonly requested: bigint
  readonly used: bigint
  readonly capacity: bigint
}

/** Who is on the node already, and what the node has for pods. */
export interface NodeRoom {
  readonly otherPods: readonly Pod[]
  readonly allocatable: ResourceAmounts
}

const PLAIN_RESOURCES = ['cpu', 'memory', 'ephemeral-storage']

/** What the node lacks to take the pod in: room for one more, then each resource that the pod asks for. */
export function computeShortages(pod: Pod, { otherPods, allocatable }: NodeRoom): readonly Shortage[] {
  const asked = computePodRequests(pod, { overhead: true })
  const shortage = (resource: string, requested: bigint, used: bigint): readonly Shortage[] => {
    const capacity = amountOf(allocatable, resource)
    return requested > capacity - used ? [{ resource, requested, used, capacity }] : []
  }
  return [
    ...shortage('pods', 1n, BigInt(otherPods.length)),
    ...listChecked(asked, allocatable).flatMap((resource) => {
      const requested = amountOf(asked, resource)
      if (requested <= 0n) return []
      const used = otherPods.reduce((sum, other) => sum + amountOf(requestsOf(other), resource), 0n)
      return shortage(resource, requested, used)
    }),
  ]
}

// Every new pod is compared with all others, whose specs do not change.
const known = new WeakMap<Pod['spec'], ResourceAmounts>()

function requestsOf(pod: Pod): ResourceAmounts {
  const before = known.get(pod.spec)
  if (before !== undefined) return before
  const requests = computePodRequests(pod, { overhead: true })
  known.set(pod.spec, requests)
  return requests
}

/** An extended resource that the node does not know belongs to the cluster, and is none of the node's business. */
function listChecked(asked: ResourceAmounts, allocatable: ResourceAmounts): readonly string[] {
  const counted = (resource: string) =>
    isExtendedResource(resource)
      ? allocatable.has(resource)
      : resource.startsWith('hugepages-') || resource.includes('kubernetes.io/')
  return [...PLAIN_RESOURCES, ...[...asked.keys()].filter(counted).sort()]
}
