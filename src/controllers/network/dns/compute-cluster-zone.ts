import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Pod, Service } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import type { ClusterZone, ZoneEndpoint, ZonePort, ZoneService } from './cluster-zone.ts'

const SERVICE_NAME = 'kubernetes.io/service-name'

export interface ZoneInput extends Pick<ClusterZone, 'domain' | 'serverAddress' | 'ranges'> {
  readonly services: readonly Live<Service>[]
  readonly slices: readonly Live<EndpointSlice>[]
  readonly pods: readonly Live<Pod>[]
  readonly namespaces: readonly string[]
}

/** The names that follow from the objects there are. */
export function computeClusterZone(input: ZoneInput): ClusterZone {
  const endpoints = new Map<string, ZoneEndpoint[]>()
  for (const slice of input.slices) {
    if (slice.addressType === 'FQDN') continue
    const key = `${slice.metadata.namespace}/${slice.metadata.labels?.[SERVICE_NAME]}`
    endpoints.set(key, [...(endpoints.get(key) ?? []), ...toEndpoints(slice)])
  }
  const services = new Map<string, ZoneService>()
  const names = new Map<string, string[]>()
  const addName = (address: string, name: string) => names.set(address, [...(names.get(address) ?? []), name])
  for (const { metadata, spec } of input.services) {
    const key = `${metadata.namespace}/${metadata.name}`
    const full = `${metadata.name}.${metadata.namespace}.svc.${input.domain}`
    const isHeadless = spec.clusterIP === 'None'
    const addresses = isHeadless || spec.type === 'ExternalName' ? [] : (spec.clusterIPs ?? [])
    const own = endpoints.get(key) ?? []
    services.set(key, {
      addresses,
      externalName:
        spec.type === 'ExternalName' ? (spec.externalName ?? '').replace(/\.$/, '').toLowerCase() : undefined,
      ports: (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port }) => ({
        name,
        protocol: protocol.toLowerCase(),
        port,
      })),
      endpoints: own,
    })
    for (const address of addresses) addName(address, full)
    if (isHeadless) for (const { address, label, isReady } of own) if (isReady) addName(address, `${label}.${full}`)
  }
  const pods = new Map<string, Set<string>>()
  for (const { metadata, status } of input.pods) {
    const known = pods.get(metadata.namespace) ?? new Set()
    for (const { ip } of status?.podIPs ?? []) if (ip) known.add(ip)
    pods.set(metadata.namespace, known)
  }
  const { domain, serverAddress, ranges } = input
  return { domain, serverAddress, ranges, namespaces: new Set(input.namespaces), services, pods, names }
}

/** A slice of a Service without pods has null for both in the real API. */
function toEndpoints({ endpoints, ports }: EndpointSlice): readonly ZoneEndpoint[] {
  const named: readonly ZonePort[] = (ports ?? []).flatMap(({ name = '', protocol = 'TCP', port }) =>
    port ? [{ name, protocol: protocol.toLowerCase(), port }] : [],
  )
  return (endpoints ?? []).flatMap(({ addresses, hostname, conditions }) =>
    addresses.map((address) => ({
      address,
      label: hostname ?? address.replaceAll(/[.:]/g, '-'),
      isReady: conditions?.ready !== false,
      ports: named,
    })),
  )
}
