import type { Controller } from '../engine/controller.ts'
import type { ControllerDeps } from '../engine/controller-deps.ts'
import { computeNftReplacement } from '../nft/compute-nft-update.ts'
import { formatHook, NftTableBuilder } from '../nft/nft-state.ts'
import type { NftState } from '../nft/nft-state.ts'
import { NftTable } from '../nft/nft-table.ts'
import type { NftRules } from '../nft/nft-table.ts'

export interface MasqueradeOptions {
  readonly table: string
  /** Where pods have their addresses, such as "10.123.0.0/16". */
  readonly podRanges: readonly string[]
  readonly rules: NftRules
}

const CHAIN = 'postrouting'
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

/** Writes the rule before the first pod is started, whatever was there. */
export async function writeMasquerade(
  { table, podRanges, rules }: Omit<MasqueradeOptions, 'rules'> & { readonly rules: Pick<NftRules, 'apply'> },
  signal: AbortSignal,
): Promise<void> {
  await rules.apply(computeNftReplacement(table, computeMasqueradeState(podRanges)), signal)
}

/** Writes it again when another program removes it. It stays when the process ends, as the pods do. */
export function createMasquerade(
  { clock, log }: Pick<ControllerDeps, 'clock' | 'log'>,
  { table: name, podRanges, rules }: MasqueradeOptions,
): Controller {
  const table = new NftTable({
    table: name,
    subject: 'masquerading',
    rules,
    clock,
    log,
    gatherMs: GATHER_MS,
    watchedChain: CHAIN,
    // Not of the name of the table, which is printed with its rules.
    sign: { chain: CHAIN, text: 'saddr' },
  })
  const wanted = computeMasqueradeState(podRanges)
  return { name: 'masquerade', run: (signal) => table.run((s) => table.write(wanted, s), signal) }
}
