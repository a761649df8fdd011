import { fnv1a32 } from '../../../model/text/fnv1a32.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'
import { IptablesBuilder } from '../iptables/iptables-state.ts'
import type { IptablesState } from '../iptables/iptables-state.ts'
import type { ProxyNetwork } from './compute-nft-state.ts'
import type { ProxiedPort } from './proxied-port.ts'

const NEW = '-m conntrack --ctstate NEW'
const TRANSLATED = '-m conntrack --ctstate DNAT'
const LOOPBACK = { IPv4: '127.0.0.0/8', IPv6: '::1/128' } as const
// Two hashes of seven characters each: names of chains have at most 28 characters, and two ports must never share a chain.
const SEEDS = ['a', 'b']
const HASH_LENGTH = 7

/** The same decisions as those of the table of nftables, for one family, on machines that have only iptables. */
export function computeIptablesState(
  ports: readonly ProxiedPort[],
  network: ProxyNetwork,
  { family, prefix }: { readonly family: IpFamily; readonly prefix: string },
): IptablesState {
  const rules = new ServiceRules(family, prefix, network)
  for (const port of ports) if (port.family === family && !port.isAtHome) rules.addPort(port)
  rules.addEnd()
  return rules.state
}

class ServiceRules {
  readonly state = new IptablesBuilder()
  readonly #family: IpFamily
  readonly #prefix: string
  readonly #network: ProxyNetwork
  readonly #masqueraded = new Set<string>()

  constructor(family: IpFamily, prefix: string, network: ProxyNetwork) {
    this.#family = family
    this.#prefix = prefix
    this.#network = network
    for (const from of ['PREROUTING', 'OUTPUT']) {
      this.state.hook('mangle', from, this.#own('SRC'))
      this.state.hook('nat', from, this.#own('SVC'))
    }
    this.state.hook('nat', 'POSTROUTING', this.#own('POST'))
    for (const [from, to] of [
      ['INPUT', 'IN'],
      ['FORWARD', 'FWD'],
      ['OUTPUT', 'OUT'],
    ] as const)
      this.state.hook('filter', from, this.#own(to))
  }

  addPort(port: ProxiedPort): void {
    const { nodePort, targets, localTargets } = port
    const isExternal = nodePort !== undefined || port.balancerIPs.length + port.externalIPs.length > 0
    if (targets.length > 0) this.#addTargets('S', port, targets)
    const needsLocal = port.isInternalLocal || (isExternal && port.isExternalLocal)
    if (needsLocal && localTargets.length > 0) this.#addTargets('L', port, localTargets)
    for (const target of targets) this.#addMasquerade(port, target)
    if (port.clusterIP !== undefined) this.#addInternal(port, port.clusterIP)
    if (isExternal) this.#addExternal(port)
    this.#addSourceRanges(port)
  }

  /** What is not translated must not leave the machine: it carries an address that means something only here. */
  addEnd(): void {
    const { serviceRanges, podRanges, seesBridge } = this.#network
    for (const range of serviceRanges.filter((each) => this.#isOfFamily(each))) {
      for (const chain of ['FWD', 'OUT'])
        this.state.add('filter', this.#own(chain), `${NEW} -d ${range} -m addrtype ! --dst-type LOCAL -j REJECT`)
    }
    if (seesBridge) return
    for (const range of podRanges.filter((each) => this.#isOfFamily(each)))
      this.state.add('nat', this.#own('POST'), `${TRANSLATED} -s ${range} -d ${range} -j MASQUERADE`)
  }

  #own(name: string): string {
    return `${this.#prefix}-${name}`
  }

  #chainOf(kind: string, id: string): string {
    const hashes = SEEDS.map((seed) => fnv1a32(`${seed}${id}`).toString(36).padStart(HASH_LENGTH, '0'))
    return this.#own(`${kind}-${hashes.join('')}`)
  }

  #isOfFamily(range: string): boolean {
    return range.includes(':') === (this.#family === 'IPv6')
  }

  /** Sends a connection to one of some targets, each as likely as the others. */
  #addTargets(kind: 'S' | 'L', port: ProxiedPort, targets: readonly EndpointTarget[]): void {
    const { id, protocol, affinitySeconds } = port
    const chain = this.#chainOf(kind, id)
    const translate = (target: EndpointTarget) => `-p ${protocol} -j DNAT --to-destination ${formatTarget(target)}`
    const choose = (index: number) => {
      const left = targets.length - index
      return left === 1 ? '' : `-m statistic --mode random --probability ${(1 / left).toFixed(10)} `
    }
    if (affinitySeconds === undefined) {
      this.state.add('nat', chain, ...targets.map((target, index) => `${choose(index)}${translate(target)}`))
      return
    }
    const named = targets.map((target) => ({ target, name: this.#chainOf('E', `${id}/${formatTarget(target)}`) }))
    for (const { target, name } of named) {
      // Clients that were sent to it: each new connection keeps them for as long again.
      if (!this.state.chains.nat.has(name))
        this.state.add('nat', name, `-m recent --name ${name} --set`, translate(target))
    }
    this.state.add(
      'nat',
      chain,
      ...named.map(({ name }) => `-m recent --name ${name} --rcheck --seconds ${affinitySeconds} --reap -j ${name}`),
      ...named.map(({ name }, index) => `${choose(index)}-j ${name}`),
    )
  }

  /** What is sent to another machine, or from a pod to itself, gets the node's address. */
  #addMasquerade({ protocol }: ProxiedPort, { address, port, isLocal }: EndpointTarget): void {
    const match = isLocal ? `-s ${address} -d ${address}` : `-p ${protocol} -d ${address} --dport ${port}`
    if (this.#masqueraded.has(match)) return
    this.#masqueraded.add(match)
    this.state.add('nat', this.#own('POST'), `${TRANSLATED} ${match} -j MASQUERADE`)
  }

  #addInternal(port: ProxiedPort, clusterIP: string): void {
    const match = addressMatch(port, clusterIP)
    const chosen = port.isInternalLocal ? port.localTargets : port.targets
    const chain = this.#chainOf(port.isInternalLocal ? 'L' : 'S', port.id)
    if (chosen.length > 0) this.#dispatch(port, match, chain)
    // A pod elsewhere could answer, so a client gets no refusal.
    else this.#refuse(['IN', 'FWD', 'OUT'], match, port.targets.length > 0 ? 'DROP' : 'REJECT')
  }

  #addExternal(port: ProxiedPort): void {
    const { id, nodePort, targets, localTargets } = port
    const isLocal = port.isExternalLocal
    const [all, own, outside] = ['S', 'L', 'X'].map((kind) => this.#chainOf(kind, id))
    if (isLocal && targets.length > 0) {
      // Pods and the node itself are not outside: for them it is a service like any other.
      const podRanges = this.#network.podRanges.filter((range) => this.#isOfFamily(range))
      this.state.add(
        'nat',
        outside ?? '',
        ...podRanges.map((range) => `-s ${range} -j ${all}`),
        `-m addrtype --src-type LOCAL -j ${all}`,
        ...(localTargets.length > 0 ? [`-j ${own}`] : []),
      )
    }
    const refusal = targets.length === 0 ? 'REJECT' : isLocal && localTargets.length === 0 ? 'DROP' : undefined
    const chain = (isLocal ? outside : all) ?? ''
    for (const address of [...port.balancerIPs, ...port.externalIPs]) {
      const match = addressMatch(port, address)
      if (targets.length > 0) this.#dispatch(port, match, chain)
      if (refusal !== undefined) this.#refuse(['IN', 'FWD', 'OUT'], match, refusal)
    }
    if (nodePort === undefined) return
    const local = `-m addrtype --dst-type LOCAL ! -d ${LOOPBACK[this.#family]}`
    const match = `-p ${port.protocol} ${local} --dport ${nodePort}`
    if (targets.length > 0) this.#dispatch(port, match, chain)
    if (refusal !== undefined) this.#refuse(['IN', 'OUT'], match, refusal)
  }

  #addSourceRanges(port: ProxiedPort): void {
    if (port.sourceRanges.length === 0 || port.balancerIPs.length === 0) return
    const chain = this.#chainOf('F', port.id)
    this.state.add('mangle', chain, ...port.sourceRanges.map((range) => `-s ${range} -j RETURN`), '-j DROP')
    for (const address of port.balancerIPs)
      this.state.add('mangle', this.#own('SRC'), `${NEW} ${addressMatch(port, address)} -j ${chain}`)
  }

  #dispatch({ id }: ProxiedPort, match: string, chain: string): void {
    this.state.add('nat', this.#own('SVC'), `${match} -m comment --comment "${id}" -j ${chain}`)
  }

  #refuse(chains: readonly string[], match: string, target: 'REJECT' | 'DROP'): void {
    for (const chain of chains) this.state.add('filter', this.#own(chain), `${NEW} ${match} -j ${target}`)
  }
}

function addressMatch({ protocol, port }: ProxiedPort, address: string): string {
  return `-p ${protocol} -d ${address} --dport ${port}`
}

function formatTarget({ address, port }: EndpointTarget): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
