import type { ProxiedPort } from './proxied-port.ts'

/** A conversation over UDP: the address that the client sent to, and the one that answers. */
export interface UdpFlow {
  readonly destination: string
  readonly destinationPort: number
  readonly replySource: string
  readonly replyPort: number
}

/**
 * Conversations that would go on with a target that is gone, or with none, for as long as the client sends: the kernel decides about a
 * target only once. A service without any target keeps them, as there is nothing better to send to.
 */
export function computeStaleFlows<F extends UdpFlow>(flows: readonly F[], ports: readonly ProxiedPort[]): readonly F[] {
  const byAddress = new Map<string, ProxiedPort>()
  const byNodePort = new Map<number, ProxiedPort[]>()
  for (const port of ports) {
    if (port.protocol !== 'udp' || port.targets.length === 0 || port.isAtHome) continue
    const addresses = [port.clusterIP ?? '', ...port.balancerIPs, ...port.externalIPs]
    for (const address of addresses) byAddress.set(`${address} ${port.port}`, port)
    if (port.nodePort !== undefined) byNodePort.set(port.nodePort, [...(byNodePort.get(port.nodePort) ?? []), port])
  }
  return flows.filter(({ destination, destinationPort, replySource, replyPort }) => {
    const family = destination.includes(':') ? 'IPv6' : 'IPv4'
    const port =
      byAddress.get(`${destination} ${destinationPort}`) ??
      byNodePort.get(destinationPort)?.find((each) => each.family === family)
    if (port === undefined) return false
    return !port.targets.some((target) => target.address === replySource && target.port === replyPort)
  })
}
