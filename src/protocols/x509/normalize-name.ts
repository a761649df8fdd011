import { isIP, SocketAddress } from 'node:net'

/** A DNS name or address in the one form in which equal ones are equal. */
export function normalizeName(name: string): string {
  const version = isIP(name)
  if (version === 0) return name.toLowerCase()
  return new SocketAddress({ address: name, family: version === 4 ? 'ipv4' : 'ipv6' }).address
}
