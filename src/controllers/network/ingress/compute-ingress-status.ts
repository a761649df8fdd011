import type { IngressLoadBalancerIngress } from '../../../model/generated/api-groups.ts'
import type { Node } from '../../../model/generated/core-v1.ts'

/** Where an Ingress is served: the addresses of the node that others can reach, with the ports. */
export function computeIngressStatus(
  node: Node | undefined,
  ports: readonly number[],
): readonly IngressLoadBalancerIngress[] {
  if (ports.length === 0) return []
  const addresses = (node?.status?.addresses ?? [])
    .filter(({ type, address }) => type === 'InternalIP' && !address.startsWith('127.') && address !== '::1')
    .map(({ address }) => address)
  return addresses.map((ip) => ({ ip, ports: ports.map((port) => ({ port, protocol: 'TCP' })) }))
}
