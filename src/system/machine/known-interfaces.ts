import { networkInterfaces } from 'node:os'
import { toCanonicalIp } from './canonical-ip.ts'
import { readKernelText } from './read-kernel-text.ts'

/** The addresses of each network interface. */
export type InterfaceAddresses = Readonly<Record<string, readonly string[]>>

interface KnownInterfacesDeps {
  readonly list: () => InterfaceAddresses
  /** A file of the kernel; empty where there is none. */
  readonly read: (path: string) => string
}

// Routes of the node with their interfaces, its addresses, and those of IPv6: with all three alike no interface has got another address.
const ROUTES = '/proc/net/route'
const ADDRESSES = '/proc/net/fib_trie'
const IPV6_ADDRESSES = '/proc/net/if_inet6'
const LINK_LOCAL = /^fe[89ab]/

/**
 * The addresses of this machine, listed again only when some have changed: each pod has an interface here, and Node compares each with each, which took 40 ms with 500 pods
 * and is asked for every ten seconds. Link-local addresses may be out of date: they come and go with pods, and none is that of the node.
 */
export function createKnownInterfaces(
  deps: KnownInterfacesDeps = { list: listInterfaces, read: readKernelText },
): () => InterfaceAddresses {
  let known: { readonly key: string; readonly interfaces: InterfaceAddresses } | undefined
  return () => {
    const key = readKey(deps)
    if (key === undefined || known?.key !== key) known = { key: key ?? '', interfaces: deps.list() }
    return known.interfaces
  }
}

/** Undefined where the kernel does not say. */
function readKey({ read }: KnownInterfacesDeps): string | undefined {
  const [routes, addresses] = [read(ROUTES), read(ADDRESSES)]
  if (routes === '' || addresses === '') return undefined
  const ipv6 = read(IPV6_ADDRESSES)
    .split('\n')
    .filter((line) => !LINK_LOCAL.test(line))
  return [routes, addresses, ...ipv6].join('\n')
}

function listInterfaces(): InterfaceAddresses {
  return Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, addresses]) => [
      name,
      (addresses ?? []).map(({ address }) => toCanonicalIp(address)),
    ]),
  )
}
