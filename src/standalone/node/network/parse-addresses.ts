import { isIP } from 'node:net'
import { toCanonicalIp } from '../../../system/machine/canonical-ip.ts'
import { exitCodes, NodeError } from '../node-error.ts'

/** The addresses of --address: none, one, or one of each family, as those of a Node. */
export function parseAddresses(value: string | undefined): readonly string[] {
  if (value === undefined) return []
  const addresses = value.split(',').map((each) => parseAddress(each.trim()))
  if (new Set(addresses.map((each) => isIP(each))).size === addresses.length) return addresses
  throw new NodeError(
    `Cannot use --address "${value}": expected one address, or one of IPv4 and one of IPv6`,
    exitCodes.wrongArguments,
  )
}

export function parseAddress(value: string): string {
  const expected = (what: string) =>
    new NodeError(`Cannot use --address "${value}": expected ${what}`, exitCodes.wrongArguments)
  // A zone would belong to a link-local address, which is none for other machines.
  if (isIP(value) === 0 || value.includes('%')) throw expected('an IP address of this machine, such as 192.168.1.10')
  const address = toCanonicalIp(value)
  if (address === '0.0.0.0' || address === '::') throw expected('one address of this machine, not all of them')
  return address
}

/** An address as it stands in URLs. */
export function toHost(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
