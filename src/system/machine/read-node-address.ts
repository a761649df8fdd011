import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { familyOf, toCanonicalIp } from './canonical-ip.ts'
import { createKnownInterfaces } from './known-interfaces.ts'
import type { InterfaceAddresses } from './known-interfaces.ts'
import { readKernelText } from './read-kernel-text.ts'

/** What the machine says about its addresses; replaced in tests. */
export interface AddressSources {
  readonly interfaces: () => InterfaceAddresses
  /** The interface of the default route, of each family. */
  readonly defaultRoutes: () => Readonly<Record<'IPv4' | 'IPv6', string | undefined>>
  /** What the names of hosts say; fails for a name that is unknown. */
  readonly lookup: (name: string) => Promise<readonly string[]>
}

/** By which address the node is reached. */
export interface AddressReport {
  /** What is wrong with the addresses that were asked for. */
  readonly fault: string | undefined
  /** The address that was found, where none was asked for. */
  readonly found: string | undefined
}

/**
 * Checks the addresses that were asked for; where there are none, finds one as the Go kubelet does: the node's name when it is an address,
 * what that name stands for, else an address of the interface with the default route. (Where there is no such route: of any.)
 */
export async function readNodeAddress(
  { nodeName, nodeIps }: { readonly nodeName: string; readonly nodeIps: readonly string[] },
  sources: AddressSources = machineSources,
): Promise<AddressReport> {
  const interfaces = sources.interfaces()
  const local = Object.values(interfaces).flat()
  const given = nodeIps.filter((ip) => ip !== '0.0.0.0' && ip !== '::')
  const [fault] = given.flatMap((ip) => findAddressFault(ip, local) ?? [])
  if (fault !== undefined || given.length > 0) return { fault, found: undefined }
  if (/^[\d.]+$|:/.test(nodeName) && isIP(nodeName) !== 0) return { fault, found: toCanonicalIp(nodeName) }
  const preferred = nodeIps[0] === '::' ? 'IPv6' : 'IPv4'
  const choose = (ips: readonly string[]) => {
    const usable = ips.filter((ip) => findAddressFault(ip, local) === undefined)
    return usable.find((ip) => familyOf(ip) === preferred) ?? usable[0]
  }
  const named = choose((await sources.lookup(nodeName).catch(() => [])).map(toCanonicalIp))
  if (named !== undefined) return { fault, found: named }
  const routes = sources.defaultRoutes()
  const other = preferred === 'IPv4' ? 'IPv6' : 'IPv4'
  const routed = [preferred, other].flatMap((family) => {
    const ips = interfaces[routes[family as 'IPv4' | 'IPv6'] ?? ''] ?? []
    return choose(ips.filter((ip) => familyOf(ip) === family)) ?? []
  })
  return { fault, found: routed[0] ?? choose(local) }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')
const MULTICAST = new BlockList()
MULTICAST.addSubnet('224.0.0.0', 4)
MULTICAST.addSubnet('ff00::', 8, 'ipv6')
const LINK_LOCAL = new BlockList()
LINK_LOCAL.addSubnet('169.254.0.0', 16)
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6')

/** Why an address cannot be that of the node. */
function findAddressFault(ip: string, local: readonly string[]): string | undefined {
  const family = familyOf(ip) === 'IPv6' ? 'ipv6' : 'ipv4'
  const expected = (what: string) => `Cannot use "${ip}" as the address of the node: expected ${what}`
  if (LOOPBACK.check(ip, family)) return expected('one that is not a loopback address')
  if (MULTICAST.check(ip, family)) return expected('one that is not a multicast address')
  if (LINK_LOCAL.check(ip, family)) return expected('one that is not a link-local address')
  return local.includes(ip) ? undefined : expected('one that an interface of this machine has')
}

const machineSources: AddressSources = {
  interfaces: createKnownInterfaces(),
  defaultRoutes: () => ({
    IPv4: parseDefaultRoute(readKernelText('/proc/net/route')),
    IPv6: parseDefaultRoute6(readKernelText('/proc/net/ipv6_route')),
  }),
  lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
}

const ROUTE_IS_UP = 1
const ANY_IPV6 = '0'.repeat(32)

/** The interface of the default route with the lowest metric, from the kernel's table of IPv4 routes. */
export function parseDefaultRoute(table: string): string | undefined {
  const routes = table.split('\n').flatMap((line) => {
    const [name, destination, , flags = '0', , , metric = '0', mask] = line.split(/\s+/)
    const isDefault = destination === '00000000' && mask === '00000000'
    return isDefault && isUp(flags) && name !== undefined ? [{ name, metric: Number(metric) }] : []
  })
  return routes.sort((a, b) => a.metric - b.metric)[0]?.name
}

/** The same for IPv6, whose table has other columns. The kernel keeps routes that reject everything on the loopback interface. */
export function parseDefaultRoute6(table: string): string | undefined {
  const routes = table.split('\n').flatMap((line) => {
    if (!line.trimStart().startsWith(ANY_IPV6)) return []
    const [destination, length, , , , metric = '0', , , flags = '0', name] = line.trim().split(/\s+/)
    const isDefault = destination === ANY_IPV6 && length === '00'
    return isDefault && isUp(flags) && name !== undefined && name !== 'lo'
      ? [{ name, metric: Number.parseInt(metric, 16) }]
      : []
  })
  return routes.sort((a, b) => a.metric - b.metric)[0]?.name
}

function isUp(flags: string): boolean {
  return (Number.parseInt(flags, 16) & ROUTE_IS_UP) !== 0
}
