import type { EndpointSlice, NetworkPolicy } from '../../../model/generated/api-groups.ts'
import type { Endpoints, Service, ServicePort } from '../../../model/generated/core-v1.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { formatSelector } from '../rules/workloads/scale-subresource.ts'
import { ageOf, columnsOf, formatMap } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

const MAX_ENDPOINTS = 3

/** The rows of `kubectl get services`. */
export const serviceColumns: TableColumns<ObjectOf<Service>> = {
  columns: columnsOf('Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age', 'Selector:wide'),
  cells: (service, now) => {
    return [
      service.metadata.name ?? '',
      service.spec?.type ?? '',
      service.spec?.clusterIPs?.[0] || service.spec?.clusterIP || '<none>',
      externalIps(service),
      portsOf(service.spec?.ports ?? []),
      ageOf(service, now),
      formatMap(service.spec?.selector),
    ]
  },
}

/** The rows of `kubectl get endpoints`. */
export const endpointsColumns: TableColumns<ObjectOf<Endpoints>> = {
  columns: columnsOf('Name', 'Endpoints', 'Age'),
  cells: (object, now) => {
    const all = (object.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) => (ports.length === 0 ? [ip] : ports.map(({ port }) => `${ip}:${port}`))),
    )
    const shown = all.slice(0, MAX_ENDPOINTS).join(',')
    const more = all.length > MAX_ENDPOINTS ? ` + ${all.length - MAX_ENDPOINTS} more...` : ''
    return [object.metadata.name ?? '', shown === '' ? '<none>' : shown + more, ageOf(object, now)]
  },
}

/** The rows of `kubectl get endpointslices`. */
export const endpointSliceColumns: TableColumns<ObjectOf<EndpointSlice>> = {
  columns: columnsOf('Name', 'AddressType', 'Ports', 'Endpoints', 'Age'),
  cells: (slice, now) => {
    const ports = (slice.ports ?? []).map(({ port }) => (port === undefined ? '*' : String(port)))
    const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses)
    return [slice.metadata.name ?? '', slice.addressType, shorten(ports), shorten(addresses), ageOf(slice, now)]
  },
}

/** The rows of `kubectl get networkpolicies`. */
export const networkPolicyColumns: TableColumns<ObjectOf<NetworkPolicy>> = {
  columns: columnsOf('Name', 'Pod-Selector', 'Age'),
  cells: (policy, now) => [
    policy.metadata.name ?? '',
    formatSelector(policy.spec?.podSelector) || '<none>',
    ageOf(policy, now),
  ],
}

function shorten(all: readonly string[]): string {
  if (all.length === 0) return '<unset>'
  const more = all.length > MAX_ENDPOINTS ? ` + ${all.length - MAX_ENDPOINTS} more...` : ''
  return all.slice(0, MAX_ENDPOINTS).join(',') + more
}

function externalIps({ spec, status }: Service): string {
  const given = spec?.externalIPs ?? []
  switch (spec?.type) {
    case 'ExternalName':
      return spec.externalName || '<none>'
    case 'LoadBalancer': {
      const assigned = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
      return [...assigned, ...given].filter(Boolean).join(',') || '<pending>'
    }
    default:
      return given.length === 0 ? '<none>' : given.join(',')
  }
}

function portsOf(ports: readonly ServicePort[]): string {
  if (ports.length === 0) return '<none>'
  return ports
    .map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? 'TCP'}`)
    .join(',')
}
