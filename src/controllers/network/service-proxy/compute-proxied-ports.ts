import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Service, ServicePort } from '../../../model/generated/core-v1.ts'
import { parseCidr, parseIp } from '../../../model/text/ip-number.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeTargets } from '../endpoints/compute-targets.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'
import type { ProxiedPort } from './proxied-port.ts'

const SERVICE_NAME = 'kubernetes.io/service-name'
const HEADLESS = 'service.kubernetes.io/headless'
const OTHER_PROXY = 'service.kubernetes.io/service-proxy-name'
const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const

export interface ProxyInput {
  readonly services: readonly Live<Service>[]
  readonly slices: readonly Live<EndpointSlice>[]
  readonly nodeName: string
}

/** What is to be proxied: the ports of all services with an address, oldest first, so that of two that want the same the older has it. */
export function computeProxiedPorts({ services, slices, nodeName }: ProxyInput): readonly ProxiedPort[] {
  const byService = new Map<string, Live<EndpointSlice>[]>()
  for (const slice of slices) {
    const { labels = {}, namespace } = slice.metadata
    if (labels[HEADLESS] !== undefined || labels[OTHER_PROXY] !== undefined) continue
    const key = `${namespace}/${labels[SERVICE_NAME]}`
    byService.set(key, [...(byService.get(key) ?? []), slice])
  }
  return services
    .filter(isProxied)
    .toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
    .flatMap((service) => {
      const { namespace, name } = service.metadata
      const own = byService.get(`${namespace}/${name}`) ?? []
      return (service.spec.ipFamilies ?? []).flatMap((family) =>
        family === 'IPv4' || family === 'IPv6'
          ? (service.spec.ports ?? []).flatMap(
              (port) => toProxied({ service, port, family, slices: own, nodeName }) ?? [],
            )
          : [],
      )
    })
}

function isProxied({ metadata, spec }: Live<Service>): boolean {
  if (metadata.labels?.[OTHER_PROXY] !== undefined || spec.type === 'ExternalName') return false
  return spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None'
}

function ageOf({ metadata }: Live<Service>): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.namespace}/${metadata.name}`
}

function toProxied({
  service,
  port: { name = '', protocol: upper = 'TCP', port, nodePort },
  family,
  slices,
  nodeName,
}: {
  readonly service: Live<Service>
  readonly port: ServicePort
  readonly family: IpFamily
  readonly slices: readonly Live<EndpointSlice>[]
  readonly nodeName: string
}): ProxiedPort | undefined {
  const { metadata, spec, status } = service
  const protocol = PROTOCOLS[upper as keyof typeof PROTOCOLS]
  const clusterIP = spec.clusterIPs?.find((ip) => parseIp(ip)?.family === family)
  if (protocol === undefined || clusterIP === undefined) return undefined
  const found = computeTargets(slices, { name, protocol: upper, family, nodeName })
  const isOfFamily = (ip: string | undefined): ip is string => parseIp(ip ?? '')?.family === family
  const ingress = status?.loadBalancer?.ingress ?? []
  const isBalancer = spec.type === 'LoadBalancer'
  return {
    id: [metadata.namespace, metadata.name, name || port, protocol, family === 'IPv4' ? 4 : 6].join('/'),
    family,
    protocol,
    port,
    clusterIP,
    nodePort: nodePort || undefined,
    balancerIPs: isBalancer
      ? ingress.filter(({ ipMode }) => ipMode !== 'Proxy').flatMap(({ ip }) => (isOfFamily(ip) ? ip : []))
      : [],
    externalIPs: (spec.externalIPs ?? []).filter(isOfFamily),
    sourceRanges: isBalancer ? rangesOf(spec.loadBalancerSourceRanges ?? [], family) : [],
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800)
        : undefined,
    isInternalLocal: spec.internalTrafficPolicy === 'Local',
    isExternalLocal: spec.externalTrafficPolicy === 'Local',
    targets: found.all,
    localTargets: found.local,
    isAtHome: found.all.some((target) => target.address === clusterIP && target.port === port),
  }
}

/** One that lets everyone in is as good as none. */
function rangesOf(ranges: readonly string[], family: IpFamily): readonly string[] {
  const own = ranges.map((range) => range.trim()).filter((range) => parseCidr(range)?.base.family === family)
  if (own.some((range) => range.endsWith('/0'))) return []
  // Ranges of the other family alone allow no client of this one.
  return own.length === 0 && ranges.length > 0 ? [family === 'IPv4' ? '255.255.255.255/32' : '::/128'] : own
}
