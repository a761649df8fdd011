import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Service } from '../../../model/generated/core-v1.ts'
import { computeTargets } from '../endpoints/compute-targets.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import type { Live } from '../../engine/live-object.ts'

/** The endpoints of a port of a service, or why there can be none. */
export type BackendTargets =
  | { readonly kind: 'targets'; readonly targets: readonly EndpointTarget[] }
  | { readonly kind: 'problem'; readonly why: string }

/** Where requests for a port of a service go: straight to its pods. */
export function computeBackendTargets(
  { name, port: asked }: { readonly name: string; readonly port: number | string },
  service: Live<Service> | undefined,
  slices: readonly Live<EndpointSlice>[],
  nodeName: string,
): BackendTargets {
  if (service === undefined) return { kind: 'problem', why: `the service ${name} does not exist` }
  if (service.spec.type === 'ExternalName')
    return { kind: 'problem', why: `the service ${name} is a name outside of the node, which is not passed on to` }
  const port = (service.spec.ports ?? []).find((each) =>
    typeof asked === 'number' ? each.port === asked && (each.protocol ?? 'TCP') === 'TCP' : each.name === asked,
  )
  if (port === undefined) return { kind: 'problem', why: `the service ${name} has no port ${asked}` }
  if ((port.protocol ?? 'TCP') !== 'TCP')
    return { kind: 'problem', why: `the port ${asked} of the service ${name} is not one of TCP` }
  const wanted = { name: port.name ?? '', protocol: 'TCP', nodeName }
  const found = (['IPv4', 'IPv6'] as const).map((family) => computeTargets(slices, { ...wanted, family }))
  const isLocal = service.spec.internalTrafficPolicy === 'Local'
  return { kind: 'targets', targets: found.flatMap(({ all, local }) => (isLocal ? local : all)) }
}
