import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import type { Live } from '../../engine/live-object.ts'
import type { ProxyInput } from './compute-proxied-ports.ts'

/** What a balancer in front of the node asks for: whether this node has endpoints of a service. */
export interface ServiceHealthCheck {
  readonly namespace: string
  readonly name: string
  readonly localEndpoints: number
}

const SERVICE_NAME = 'kubernetes.io/service-name'

/** By port: services that send what comes from outside only to endpoints of this node, with how many of those are ready. */
export function computeHealthChecks({
  services,
  slices,
  nodeName,
}: ProxyInput): ReadonlyMap<number, ServiceHealthCheck> {
  const checks = new Map<number, ServiceHealthCheck>()
  for (const { metadata, spec } of services) {
    const port = spec.healthCheckNodePort
    if (spec.type !== 'LoadBalancer' || spec.externalTrafficPolicy !== 'Local' || !port || checks.has(port)) continue
    const { namespace, name } = metadata
    const own = slices.filter(
      (slice) => slice.metadata.namespace === namespace && slice.metadata.labels?.[SERVICE_NAME] === name,
    )
    checks.set(port, { namespace, name, localEndpoints: countLocal(own, nodeName) })
  }
  return checks
}

/** An endpoint with several ports is in several slices. */
function countLocal(slices: readonly Live<EndpointSlice>[], nodeName: string): number {
  const ready = slices.flatMap(({ endpoints = [] }) =>
    endpoints
      .filter((endpoint) => endpoint.nodeName === nodeName && (endpoint.conditions?.ready ?? true))
      .flatMap(({ addresses: [address = ''] }) => (parseIp(address) === undefined ? [] : address)),
  )
  return new Set(ready).size
}
