import { formatHook, NftTableBuilder } from '../nft/nft-state.ts'
import type { NftState } from '../nft/nft-state.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import type { IpFamily } from '../../../model/text/ip-number.ts'
import type { ProxiedPort } from './proxied-port.ts'

/** The parts of the node's network that the rules depend on. */
export interface ProxyNetwork {
  /** Where services have their addresses. */
  readonly serviceRanges: readonly string[]
  /** Where pods have theirs. */
  readonly podRanges: readonly string[]
  /** Whether answers between two pods of one bridge pass through these rules; otherwise they have to be sent through the node. */
  readonly seesBridge: boolean
}

const FAMILIES = [
  { family: 'IPv4', suffix: '4', ip: 'ip', type: 'ipv4_addr', loopback: '127.0.0.0/8' },
  { family: 'IPv6', suffix: '6', ip: 'ip6', type: 'ipv6_addr', loopback: '::1' },
] as const
type FamilyTerms = (typeof FAMILIES)[number]

const PORT_KEY = 'meta l4proto . th dport'
const PORT_TYPE = 'inet_proto . inet_service'
// Before the chains that translate, so that the address asked for is still there.
const BEFORE_TRANSLATION = -110

/** The whole table: maps from addresses and ports to what becomes of a connection. */
export function computeNftState(ports: readonly ProxiedPort[], network: ProxyNetwork): NftState {
  const table = new NftTableBuilder()
  for (const terms of FAMILIES) declareSets(table, terms, network)
  declareHooks(table, network)
  for (const port of ports) if (!port.isAtHome) addPort(table, port)
  for (const { family, clusterIP } of ports) {
    if (clusterIP !== undefined) table.put(`vip${termsOf(family).suffix}`, clusterIP, '')
  }
  return { sets: table.sets, chains: table.chains }
}

function termsOf(family: IpFamily): FamilyTerms {
  return family === 'IPv4' ? FAMILIES[0] : FAMILIES[1]
}

function declareSets(table: NftTableBuilder, { suffix, type, family }: FamilyTerms, network: ProxyNetwork): void {
  table.declare(`svc${suffix}`, 'map', `type ${type} . ${PORT_TYPE} : verdict`)
  table.declare(`np${suffix}`, 'map', `type ${PORT_TYPE} : verdict`)
  table.declare(`noep${suffix}`, 'map', `type ${type} . ${PORT_TYPE} : verdict`)
  table.declare(`noepnp${suffix}`, 'map', `type ${PORT_TYPE} : verdict`)
  table.declare(`fw${suffix}`, 'map', `type ${type} . ${PORT_TYPE} : verdict`)
  table.declare(`vip${suffix}`, 'set', `type ${type}`)
  table.declare(`hairpin${suffix}`, 'set', `type ${type} . ${type}`)
  table.declare(`remote${suffix}`, 'set', `type ${type} . ${PORT_TYPE}`)
  for (const [name, ranges] of [
    [`pods${suffix}`, network.podRanges],
    [`range${suffix}`, network.serviceRanges],
  ] as const) {
    table.declare(name, 'set', `type ${type}; flags interval`)
    for (const range of ranges) if (range.includes(':') === (family === 'IPv6')) table.put(name, range, '')
  }
}

function declareHooks(table: NftTableBuilder, { seesBridge }: ProxyNetwork): void {
  const each = (rule: (terms: FamilyTerms) => string | readonly string[]) => FAMILIES.flatMap((terms) => rule(terms))
  const byAddress = ({ suffix, ip }: FamilyTerms, map: string) => `${ip} daddr . ${PORT_KEY} vmap @${map}${suffix}`
  const byNodePort = ({ suffix, ip, loopback }: FamilyTerms, map: string) =>
    `fib daddr type local ${ip} daddr != ${loopback} ${PORT_KEY} vmap @${map}${suffix}`
  const allowed = each((terms) => `ct state new ${byAddress(terms, 'fw')}`)
  table.chain('filter-pre', allowed, formatHook('filter', 'prerouting', BEFORE_TRANSLATION))
  table.chain('filter-pre-out', allowed, formatHook('filter', 'output', BEFORE_TRANSLATION))
  table.chain('services', [...each((terms) => byAddress(terms, 'svc')), ...each((terms) => byNodePort(terms, 'np'))])
  table.chain('nat-pre', ['jump services'], formatHook('nat', 'prerouting', -100))
  table.chain('nat-out', ['jump services'], formatHook('nat', 'output', -100))
  table.chain(
    'nat-post',
    each(({ suffix, ip }) => [
      `ct status dnat ${ip} daddr . ${PORT_KEY} @remote${suffix} masquerade`,
      `ct status dnat ${ip} saddr . ${ip} daddr @hairpin${suffix} masquerade`,
      ...(seesBridge ? [] : [`ct status dnat ${ip} saddr @pods${suffix} ${ip} daddr @pods${suffix} masquerade`]),
    ]),
    formatHook('nat', 'postrouting', 100),
  )
  // On a machine of its own a client that is just connecting does not take the usual answer, and tries again after a second.
  table.chain('refuse', ['meta l4proto tcp counter reject with tcp reset', 'counter reject'])
  table.chain('ignore', ['counter drop'])
  const withoutTarget = each((terms) => `ct state new ${byAddress(terms, 'noep')}`)
  const nodePorts = each((terms) => `ct state new ${byNodePort(terms, 'noepnp')}`)
  // What is not translated must not leave the machine: it carries an address that means something only here.
  const unknown = each(({ suffix, ip }) => [
    `ct state new ${ip} daddr @vip${suffix} fib daddr type != local goto refuse`,
    `ct state new ${ip} daddr @range${suffix} fib daddr type != local goto refuse`,
  ])
  table.chain('filter-in', [...withoutTarget, ...nodePorts], formatHook('filter', 'input', 0))
  table.chain('filter-fwd', [...withoutTarget, ...unknown], formatHook('filter', 'forward', 0))
  table.chain('filter-out', [...withoutTarget, ...nodePorts, ...unknown], formatHook('filter', 'output', 0))
}

function addPort(table: NftTableBuilder, port: ProxiedPort): void {
  const { id, family, protocol, nodePort, targets, localTargets } = port
  const { suffix } = termsOf(family)
  const isExternal = nodePort !== undefined || port.balancerIPs.length + port.externalIPs.length > 0
  if (targets.length > 0) addTargets(table, `s_${id}`, port, targets)
  const needsLocal = port.isInternalLocal || (isExternal && port.isExternalLocal)
  if (needsLocal && localTargets.length > 0) addTargets(table, `l_${id}`, port, localTargets)
  for (const { address, port: number, isLocal } of targets) {
    if (isLocal) table.put(`hairpin${suffix}`, `${address} . ${address}`, '')
    else table.put(`remote${suffix}`, `${address} . ${protocol} . ${number}`, '')
  }
  if (port.clusterIP !== undefined) addInternal(table, port, port.clusterIP)
  if (isExternal) addExternal(table, port)
  addSourceRanges(table, port)
}

function addInternal(table: NftTableBuilder, port: ProxiedPort, clusterIP: string): void {
  const { suffix } = termsOf(port.family)
  const key = `${clusterIP} . ${port.protocol} . ${port.port}`
  const chosen = port.isInternalLocal ? port.localTargets : port.targets
  if (chosen.length > 0) table.put(`svc${suffix}`, key, `goto ${port.isInternalLocal ? 'l' : 's'}_${port.id}`)
  // A pod elsewhere could answer, so a client gets no refusal.
  else table.put(`noep${suffix}`, key, `goto ${port.targets.length > 0 ? 'ignore' : 'refuse'}`)
}

function addExternal(table: NftTableBuilder, port: ProxiedPort): void {
  const { id, family, protocol, nodePort, targets, localTargets } = port
  const { suffix, ip } = termsOf(family)
  const isLocal = port.isExternalLocal
  if (isLocal && targets.length > 0) {
    // Pods and the node itself are not outside: for them it is a service like any other.
    table.chain(`x_${id}`, [
      `${ip} saddr @pods${suffix} goto s_${id}`,
      `fib saddr type local goto s_${id}`,
      ...(localTargets.length > 0 ? [`goto l_${id}`] : []),
    ])
  }
  const refusal =
    targets.length === 0 ? 'goto refuse' : isLocal && localTargets.length === 0 ? 'goto ignore' : undefined
  const verdict = isLocal ? `goto x_${id}` : `goto s_${id}`
  for (const address of [...port.balancerIPs, ...port.externalIPs]) {
    const key = `${address} . ${protocol} . ${port.port}`
    if (targets.length > 0) table.put(`svc${suffix}`, key, verdict)
    if (refusal !== undefined) table.put(`noep${suffix}`, key, refusal)
  }
  if (nodePort === undefined) return
  const key = `${protocol} . ${nodePort}`
  if (targets.length > 0) table.put(`np${suffix}`, key, verdict)
  if (refusal !== undefined) table.put(`noepnp${suffix}`, key, refusal)
}

function addSourceRanges(table: NftTableBuilder, port: ProxiedPort): void {
  if (port.sourceRanges.length === 0 || port.balancerIPs.length === 0) return
  const { suffix, ip } = termsOf(port.family)
  table.chain(`fw_${port.id}`, [`${ip} saddr { ${port.sourceRanges.join(', ')} } return`, 'goto ignore'])
  for (const address of port.balancerIPs)
    table.put(`fw${suffix}`, `${address} . ${port.protocol} . ${port.port}`, `goto fw_${port.id}`)
}

/** A chain that sends a connection to one of some targets, each as likely as the others. */
function addTargets(
  table: NftTableBuilder,
  chain: string,
  port: ProxiedPort,
  targets: readonly EndpointTarget[],
): void {
  const { family, protocol, affinitySeconds } = port
  const { ip, type } = termsOf(family)
  const translate = (target: EndpointTarget) => `meta l4proto ${protocol} dnat ${ip} to ${formatTarget(target)}`
  const [only, ...more] = targets
  if (affinitySeconds === undefined) {
    const choices = targets.map((target, index) => `${index} : ${target.address} . ${target.port}`).join(', ')
    const choose = `meta l4proto ${protocol} dnat ${ip} to numgen random mod ${targets.length} map { ${choices} }`
    table.chain(chain, [only !== undefined && more.length === 0 ? translate(only) : choose])
    return
  }
  const named = targets.map((target) => ({
    target,
    name: `${port.id}/${target.address.replaceAll(':', '.')}/${target.port}`,
  }))
  for (const { target, name } of named) {
    // Clients that were sent to it: each new connection keeps them for as long again.
    const set = `aff_${affinitySeconds}_${name}`
    table.declare(set, 'set', `type ${type}; flags dynamic,timeout; timeout ${affinitySeconds}s`, true)
    table.chain(`e_${name}`, [`update @${set} { ${ip} saddr }`, translate(target)])
  }
  const choices = named.map(({ name }, index) => `${index} : goto e_${name}`).join(', ')
  table.chain(chain, [
    ...named.map(({ name }) => `${ip} saddr @aff_${affinitySeconds}_${name} goto e_${name}`),
    `numgen random mod ${targets.length} vmap { ${choices} }`,
  ])
}

function formatTarget({ address, port }: EndpointTarget): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
