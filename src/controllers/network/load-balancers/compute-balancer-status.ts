import type { LoadBalancerIngress, Node, Service } from '../../../model/generated/core-v1.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import type { Live } from '../../engine/live-object.ts'

/** What becomes of a service that asks for a balancer. */
export interface BalancerDecision {
  readonly ingress: readonly LoadBalancerIngress[]
  /** Why it has no address. */
  readonly problem: string | undefined
}

/** The node's own address is that of every balancer, so each port of it goes to one service: the oldest that asks for it. */
export function computeBalancers(
  services: readonly Live<Service>[],
  node: Node | undefined,
  /** Ports of the node that the ingress listens on, by TCP. */
  ingressPorts: readonly number[] = [],
): ReadonlyMap<string, BalancerDecision> {
  const addresses = (node?.status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address)
  const owners = new Map(ingressPorts.map((port) => [`${port}/TCP`, 'the ingress']))
  const decisions = new Map<string, BalancerDecision>()
  const asking = services.filter(({ spec }) => spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined)
  for (const service of asking.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))) {
    const { uid, namespace, name } = service.metadata
    const ports = (service.spec.ports ?? []).map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`)
    const taken = ports.find((port) => owners.has(port))
    if (taken !== undefined) {
      const problem = `Error syncing load balancer: port ${taken} of the node belongs to ${owners.get(taken)}`
      decisions.set(uid, { ingress: [], problem })
      continue
    }
    const ingress = (service.spec.ipFamilies ?? []).flatMap((family) => {
      const ip = addresses.find((address) => parseIp(address)?.family === family)
      return ip === undefined || ip.startsWith('127.') ? [] : [{ ip, ipMode: 'VIP' }]
    })
    for (const port of ports) owners.set(port, `the service ${namespace}/${name}`)
    const problem =
      ingress.length > 0 ? undefined : 'Error syncing load balancer: the node has no address that others can reach'
    decisions.set(uid, { ingress, problem })
  }
  return decisions
}

function ageOf({ metadata }: Live<Service>): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.namespace}/${metadata.name}`
}
