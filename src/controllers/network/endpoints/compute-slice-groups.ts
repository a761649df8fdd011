import type { DiscoveryEndpointPort, Endpoint } from '../../../model/generated/api-groups.ts'
import type { Container, Node, Pod, Service, ServicePort } from '../../../model/generated/core-v1.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import { isReady, isTerminal } from '../../workloads/pods/pod-availability.ts'
import type { Live } from '../../engine/live-object.ts'

/** Endpoints that belong into slices of their own: those of one family that listen on the same ports. */
export interface SliceGroup {
  readonly addressType: string
  readonly ports: readonly DiscoveryEndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

export interface ServicePods {
  readonly service: Live<Service>
  /** Those that the selector finds. */
  readonly pods: readonly Live<Pod>[]
  readonly nodes: ReadonlyMap<string, Node>
}

const ZONE_LABEL = 'topology.kubernetes.io/zone'
const TOPOLOGY_MODES = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints']

/** Who listens behind a service, by family and ports; each family that the service has occurs, also without a pod. */
export function computeSliceGroups({ service, pods, nodes }: ServicePods): readonly SliceGroup[] {
  const listed = pods.filter((pod) => isListed(service, pod, nodes))
  return (service.spec.ipFamilies ?? ['IPv4']).flatMap((addressType) => {
    const groups = new Map<string, { ports: readonly DiscoveryEndpointPort[]; endpoints: Endpoint[] }>()
    for (const pod of listed) {
      const addresses = addressesOf(pod, addressType)
      if (addresses.length === 0) continue
      const ports = computePorts(service, pod)
      const key = JSON.stringify(ports)
      const group = groups.get(key) ?? { ports, endpoints: [] }
      groups.set(key, group)
      group.endpoints.push(toEndpoint(service, pod, addresses, nodes.get(pod.spec.nodeName ?? '')))
    }
    if (groups.size === 0) return [{ addressType, ports: [], endpoints: [] }]
    return [...groups.values()].map((group) => ({ addressType, ...group }))
  })
}

function isListed({ spec }: Live<Service>, pod: Live<Pod>, nodes: ReadonlyMap<string, Node>): boolean {
  if (isTerminal(pod)) return false
  return spec.publishNotReadyAddresses === true || nodes.has(pod.spec.nodeName ?? '')
}

function addressesOf({ status }: Pod, addressType: string): readonly string[] {
  const all = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : [])
  return all.filter((ip) => parseIp(ip ?? '')?.family === addressType)
}

function toEndpoint(
  { metadata, spec }: Live<Service>,
  pod: Live<Pod>,
  addresses: readonly string[],
  node: Node | undefined,
): Endpoint {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata
  const [serving, terminating] = [isReady(pod), deletionTimestamp !== undefined]
  const ready = spec.publishNotReadyAddresses === true || (serving && !terminating)
  const { nodeName, hostname, subdomain } = pod.spec
  const zone = node?.metadata?.labels?.[ZONE_LABEL]
  const isNamed = Boolean(hostname) && subdomain === metadata.name
  const hints = ready ? hintsFor(metadata.annotations ?? {}, spec.trafficDistribution, { zone, nodeName }) : undefined
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(isNamed && { hostname }),
    ...(nodeName && { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(zone && { zone }),
    ...(hints && { hints }),
  }
}

/** On one node they change nothing; they are written for those who read them. */
function hintsFor(
  annotations: Readonly<Record<string, string>>,
  distribution: string | undefined,
  { zone, nodeName }: { readonly zone: string | undefined; readonly nodeName: string | undefined },
): Endpoint['hints'] {
  const isByAnnotation = TOPOLOGY_MODES.some((name) => /^auto$/i.test(annotations[name] ?? ''))
  if (!distribution || isByAnnotation) return undefined
  const forZones = zone ? { forZones: [{ name: zone }] } : {}
  const forNodes = distribution === 'PreferSameNode' && nodeName ? { forNodes: [{ name: nodeName }] } : {}
  return zone || distribution === 'PreferSameNode' ? { ...forZones, ...forNodes } : undefined
}

/** The ports of a service as one pod has them; a name that the pod does not know is left out. */
function computePorts({ spec }: Live<Service>, pod: Pod): readonly DiscoveryEndpointPort[] {
  return (spec.ports ?? []).flatMap((each) => {
    const port = findTarget(each, pod)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = each
    return [{ name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) }]
  })
}

function findTarget({ port, targetPort = port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const containers: readonly Container[] = [...(spec?.containers ?? []), ...sidecars]
  return containers
    .flatMap(({ ports = [] }) => ports)
    .find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)?.containerPort
}
