import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { IptablesChains } from '../iptables/iptables-chains.ts'
import type { IptablesRules } from '../iptables/iptables-chains.ts'
import { NftTable } from '../nft/nft-table.ts'
import type { NftRules } from '../nft/nft-table.ts'
import { computeIptablesState } from './compute-iptables-state.ts'
import { computeNftState } from './compute-nft-state.ts'
import type { ProxyNetwork } from './compute-nft-state.ts'
import type { ProxiedPort } from './proxied-port.ts'

/** Which rules of the kernel send connections to pods: one table of nftables, or chains of iptables whose names begin alike. */
export type RulesPlace =
  | { readonly table: string; readonly rules: NftRules }
  | { readonly chainPrefix: string; readonly iptables: IptablesRules }

/** Keeps the rules in the kernel. */
interface ServiceRules {
  wake(): void
  run(sync: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<never>
  write(ports: readonly ProxiedPort[], signal: AbortSignal): Promise<void>
}

// Changes that come together are written together.
const GATHER_MS = 30

export function createServiceRules(
  place: RulesPlace,
  network: ProxyNetwork,
  deps: { readonly clock: Clock; readonly log: Logger },
): ServiceRules {
  const common = { ...deps, subject: 'services', gatherMs: GATHER_MS }
  if ('table' in place) {
    const sign = { chain: 'services', text: '@svc4' }
    const table = new NftTable({ ...common, table: place.table, rules: place.rules, watchedChain: 'nat-pre', sign })
    return {
      wake: () => table.wake(),
      run: (sync, signal) => table.run(sync, signal),
      write: (ports, signal) => table.write(computeNftState(ports, network), signal),
    }
  }
  const { chainPrefix: prefix, iptables: rules } = place
  const chains = new IptablesChains({ ...common, prefix, rules })
  const hasSix = network.serviceRanges.some((range) => range.includes(':'))
  return {
    wake: () => chains.wake(),
    run: (sync, signal) => chains.run(sync, signal),
    write: (ports, signal) => {
      const stateOf = (family: 'IPv4' | 'IPv6') => computeIptablesState(ports, network, { family, prefix })
      return chains.write({ IPv4: stateOf('IPv4'), ...(hasSix && { IPv6: stateOf('IPv6') }) }, signal)
    },
  }
}
