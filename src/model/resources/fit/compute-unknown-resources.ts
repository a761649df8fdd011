import { computePodRequests } from '../compute-pod-requests.ts'
import type { ResourceAmounts } from '../compute-pod-requests.ts'
import { isExtendedResource } from '../is-extended-resource.ts'
import type { Pod } from '../../pod/pod.ts'
import { amountOf } from '../resource-units.ts'

/** Extended resources that the pod asks for and that the node does not have, not even none of: nothing comes of asking for them. */
export function computeUnknownResources(pod: Pod, allocatable: ResourceAmounts): readonly string[] {
  const asked = computePodRequests(pod, { overhead: false })
  return [...asked.keys()]
    .filter((resource) => isExtendedResource(resource) && !allocatable.has(resource) && amountOf(asked, resource) > 0n)
    .toSorted((a, b) => (a < b ? -1 : 1))
}
