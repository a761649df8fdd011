import type { PodStatus } from '../../model/generated/core-v1.ts'
import { isIpv6, normalizeIp } from '../../model/text/ip-number.ts'

type PodIps = Pick<PodStatus, 'podIP' | 'podIPs'>
type HostIps = Pick<PodStatus, 'hostIP' | 'hostIPs'>

interface PodIpsInput {
  readonly hostNetwork: boolean
  /** Of the sandbox in use; empty when there is none. */
  readonly sandboxIps: readonly string[]
  readonly nodeIps: readonly string[]
  readonly known: PodIps | undefined
}

/** The node's first address, and the first of the other family. */
export function computeHostIps(nodeIps: readonly string[]): HostIps {
  const ips = onePerFamily(nodeIps, isIpv6(nodeIps[0]))
  const [first] = ips
  return first === undefined ? {} : { hostIP: first, hostIPs: ips.map((ip) => ({ ip })) }
}

/**
 * A pod's addresses: one per family, the node's own family first. After the sandbox died the last known ones stay. In the node's
 * network they are the node's, and once said they only grow.
 */
export function computePodIps({ hostNetwork, sandboxIps, nodeIps, known }: PodIpsInput): PodIps {
  const knownIps = known?.podIPs?.map(({ ip }) => ip) ?? (known?.podIP === undefined ? [] : [known.podIP])
  const now = hostNetwork ? [...knownIps, ...nodeIps] : sandboxIps
  const ips = onePerFamily(now, isIpv6(hostNetwork ? now[0] : nodeIps[0]))
  const [first] = ips.length === 0 ? knownIps : ips
  return first === undefined ? {} : { podIP: first, podIPs: (ips.length === 0 ? knownIps : ips).map((ip) => ({ ip })) }
}

/** The addresses in their one way of writing; none at all when one of them cannot be read. */
function onePerFamily(texts: readonly string[], ipv6First: boolean): readonly string[] {
  const ips = texts.map(normalizeIp)
  if (ips.some((ip) => ip === undefined)) return []
  const ipv4 = ips.find((ip) => !isIpv6(ip))
  const ipv6 = ips.find(isIpv6)
  return (ipv6First ? [ipv6, ipv4] : [ipv4, ipv6]).filter((ip) => ip !== undefined)
}
