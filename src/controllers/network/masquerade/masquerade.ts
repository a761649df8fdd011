import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { IptablesChains } from '../iptables/iptables-chains.ts'
import type { IptablesRules } from '../iptables/iptables-chains.ts'
import { formatIptablesInput, IptablesBuilder } from '../iptables/iptables-state.ts'
import type { IptablesState } from '../iptables/iptables-state.ts'
import { computeNftReplacement } from '../nft/compute-nft-update.ts'
import { formatHook, NftTableBuilder } from '../nft/nft-state.ts'
import type { NftState } from '../nft/nft-state.ts'
import { NftTable } from '../nft/nft-table.ts'
import type { NftRules } from '../nft/nft-table.ts'

/** Where the rule is: in a table of nftables, or in chains of iptables whose names begin alike. */
type MasqueradePlace<Rules> =
  | { readonly table: string; readonly rules: Rules }
  | { readonly chainPrefix: string; readonly iptables: IptablesRules }

interface PodRanges {
  /** Where pods have their addresses, such as "10.123.0.0/16". */
  readonly podRanges: readonly string[]
}

export type MasqueradeOptions = PodRanges & MasqueradePlace<NftRules>

const CHAIN = 'postrouting'
const SUBJECT = 'masquerading'
const IPV4 = { ip: 'ip', multicast: '224.0.0.0/4' }
const IPV6 = { ip: 'ip6', multicast: 'ff00::/8' }
// Nothing but a flush changes these rules.
const GATHER_MS = 30

/** Pods have the node's address towards the outside: one rule for all of them, as the bridge plugin makes it for each with several calls of iptables. */
export function computeMasqueradeState(podRanges: readonly string[]): NftState {
  const table = new NftTableBuilder()
  const rules = podRanges.map((range) => {
    const { ip, multicast } = range.includes(':') ? IPV6 : IPV4
    return `${ip} saddr ${range} ${ip} daddr != { ${range}, ${multicast} } masquerade`
  })
  table.chain(CHAIN, rules, formatHook('nat', 'postrouting', 100))
  return { sets: table.sets, chains: table.chains }
}

/** The same with iptables, by family: one that no pod has an address of has none. */
export function computeMasqueradeChains(
  podRanges: readonly string[],
  prefix: string,
): Readonly<Partial<Record<'IPv4' | 'IPv6', IptablesState>>> {
  const states: Partial<Record<'IPv4' | 'IPv6', IptablesBuilder>> = {}
  for (const range of podRanges) {
    const { ip, multicast } = range.includes(':') ? IPV6 : IPV4
    const state = new IptablesBuilder()
    const chain = `${prefix}-POST`
    state.hook('nat', 'POSTROUTING', chain)
    for (const kept of [range, multicast]) state.add('nat', chain, `-s ${range} -d ${kept} -j RETURN`)
    state.add('nat', chain, `-s ${range} -j MASQUERADE`)
    states[ip === 'ip' ? 'IPv4' : 'IPv6'] = state
  }
  return states
}

/** Writes the rule before the first pod is started, whatever was there. */
export async function writeMasquerade(
  options: PodRanges & MasqueradePlace<Pick<NftRules, 'apply'>>,
  signal: AbortSignal,
): Promise<void> {
  const { podRanges } = options
  if ('table' in options) {
    await options.rules.apply(computeNftReplacement(options.table, computeMasqueradeState(podRanges)), signal)
    return
  }
  const { chainPrefix, iptables } = options
  const states = computeMasqueradeChains(podRanges, chainPrefix)
  for (const family of ['IPv4', 'IPv6'] as const) {
    const state = states[family]
    if (state === undefined) continue
    const saved = await iptables.save(family, signal)
    await iptables.restore(family, formatIptablesInput(state, chainPrefix, saved), signal)
  }
}

/** Writes it again when another program removes it. It stays when the process ends, as the pods do. */
export function createMasquerade(
  { clock, log }: Pick<ControllerDeps, 'clock' | 'log'>,
  options: MasqueradeOptions,
): Controller {
  const { podRanges } = options
  const name = 'masquerade'
  if ('chainPrefix' in options) {
    const { chainPrefix: prefix, iptables: rules } = options
    const chains = new IptablesChains({ prefix, subject: SUBJECT, rules, clock, log, gatherMs: GATHER_MS })
    const wanted = computeMasqueradeChains(podRanges, prefix)
    return { name, run: (signal) => chains.run((s) => chains.write(wanted, s), signal) }
  }
  const table = new NftTable({
    table: options.table,
    subject: SUBJECT,
    rules: options.rules,
    clock,
    log,
    gatherMs: GATHER_MS,
    watchedChain: CHAIN,
    // Not of the name of the table, which is printed with its rules.
    sign: { chain: CHAIN, text: 'saddr' },
  })
  const wanted = computeMasqueradeState(podRanges)
  return { name, run: (signal) => table.run((s) => table.write(wanted, s), signal) }
}
