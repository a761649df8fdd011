import type { NodeAddress } from '../../../model/generated/core-v1.ts'
import { isIpv6, normalizeIp } from '../../../model/text/ip-number.ts'

/**
 * The addresses that pods know their node by: the first, and the first of the other family. Internal ones come before external
 * ones, which some clouds give alone.
 * Parity: pkg/util/node GetNodeHostIPs().
 */
export function computeNodeHostIps(addresses: readonly NodeAddress[] | undefined): readonly string[] {
  const ips = ['InternalIP', 'ExternalIP'].flatMap((wanted) =>
    (addresses ?? []).flatMap(({ type, address }) => (type === wanted ? (normalizeIp(address) ?? []) : [])),
  )
  const [first] = ips
  if (first === undefined) return []
  const second = ips.find((ip) => isIpv6(ip) !== isIpv6(first))
  return second === undefined ? [first] : [first, second]
}
