import type { Pod } from '../../../model/generated/core-v1.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import { computePodRequests } from '../../../model/resources/compute-pod-requests.ts'
import { parseQuantity, quantityMilliValue } from '../../../model/resources/quantity.ts'
import type { Live } from '../../engine/live-object.ts'

/** How much of a resource each pod, or one container of it, asks for, in thousandths; an error where one does not say. */
export function computeRequests(
  pods: readonly Live<Pod>[],
  resource: string,
  container: string | undefined,
): ReadonlyMap<string, bigint> | Error {
  const requests = new Map<string, bigint>()
  for (const pod of pods) {
    const isOfPod = container === undefined && Object.keys(pod.spec.resources?.requests ?? {}).length > 0
    const request = isOfPod ? requestOfPod(pod, resource) : requestOfContainers(pod, resource, container)
    if (request instanceof Error) return request
    requests.set(pod.metadata.name, request)
  }
  return requests
}

function requestOfPod(pod: Live<Pod>, resource: string): bigint | Error {
  const amount = computePodRequests(pod, { overhead: true }).get(resource)
  return amount === undefined
    ? new Error(`missing pod-level request for ${resource} in Pod ${pod.metadata.name}`)
    : quantityMilliValue(amount)
}

function requestOfContainers(
  { metadata, spec }: Live<Pod>,
  resource: string,
  only: string | undefined,
): bigint | Error {
  const all = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)]
  const counted = only === undefined ? all : all.filter(({ name }) => name === only)
  if (only !== undefined && counted.length === 0)
    return new Error(`container ${only} not found in Pod ${metadata.name}`)
  let total = 0n
  for (const { name, resources } of counted) {
    const text = resources?.requests?.[resource]
    if (text === undefined)
      return new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`)
    total += quantityMilliValue(parseQuantity(text))
  }
  return total
}
