import { isExtendedResource } from '../../model/resources/is-extended-resource.ts'
import type { Container, EphemeralContainer } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { parseQuantity } from '../../model/resources/quantity.ts'
import { computeClaimNames } from './compute-claim-names.ts'
import type { ClaimRules } from './compute-claim-names.ts'
import type { ClaimDevice, ClaimRecord } from './claim-record.ts'

/** A claim that a container uses, and the requests whose devices it gets; empty means all of them. */
export interface ContainerClaim {
  readonly name: string
  readonly requests: readonly string[]
}

/** A device of a claim, and whose it is. */
export interface DriverDevice extends ClaimDevice {
  readonly driver: string
}

// Extended resources without a name of their own are called after their class.
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/'

/** The claims of a pod that one of its containers uses, in the order of the pod. */
export function computeContainerClaims(
  pod: Pod,
  container: Container | EphemeralContainer,
  rules: ClaimRules,
): readonly ContainerClaim[] {
  const used = container.resources?.claims ?? []
  return computeClaimNames(pod, rules).flatMap((claim) => {
    if (claim.kind !== 'claim') return []
    const requests =
      claim.podClaim === undefined
        ? extendedRequests(pod, container)
        : used.filter(({ name }) => name === claim.podClaim).map(({ request }) => request ?? '')
    return requests.length === 0 ? [] : [{ name: claim.name, requests }]
  })
}

/** The requests of the one claim for all extended resources of the pod. */
function extendedRequests({ status }: Pod, container: Container | EphemeralContainer): readonly string[] {
  const asked = new Set(
    Object.entries(container.resources?.requests ?? {})
      .filter(([resource, amount]) => isBackedByClaims(resource) && parseQuantity(amount).nanos > 0n)
      .map(([resource]) => resource),
  )
  return (status?.extendedResourceClaimStatus?.requestMappings ?? [])
    .filter(({ containerName, resourceName }) => containerName === container.name && asked.has(resourceName))
    .map(({ requestName }) => requestName)
}

function isBackedByClaims(resource: string): boolean {
  return isExtendedResource(resource) || resource.startsWith(DEVICE_CLASS_PREFIX)
}

/** The devices of a claim that serve one of some requests, drivers in the order of their names. */
export function computeRequestDevices({ drivers }: ClaimRecord, requests: readonly string[]): readonly DriverDevice[] {
  return [...drivers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([driver, devices]) =>
      devices
        .filter((device) => requests.some((request) => serves(device, request)))
        .map((device) => ({ ...device, driver })),
    )
}

/** No request means all of them. Of one with alternatives, "gpu/small", a device names only the first part. */
function serves({ requestNames }: ClaimDevice, request: string): boolean {
  const [base = ''] = request.split('/')
  return base === '' || requestNames.length === 0 || requestNames.includes(base)
}
