import type { Clock } from '../../../base/async/clock.ts'
import {
  formatIptablesInput,
  hasOwnChains,
  IptablesBuilder,
} from '../../../controllers/network/iptables/iptables-state.ts'
import { readKernelSetting } from '../../../system/machine/kernel-settings.ts'
import { Iptables } from '../../../system/network/iptables.ts'
import { Nft } from '../../../system/network/nft.ts'
import { runProcess } from '../../../system/processes/run-process.ts'
import type { StandaloneDeps } from '../node-deps.ts'
import { exitCodes, NodeError } from '../node-error.ts'
import type { NodeLayout } from '../node-layout.ts'
import { findRulesProgram, NFT_MISSING } from './find-rules-program.ts'
import type { RulesProgram } from './find-rules-program.ts'
import { ensureBridgeIsSeen, knowsBridge, seesBridge } from './policy-refusal.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

const DEADLINE_MS = 10_000
const PREFIX = 16

/** The parts of the machine's network that services can rely on. */
export interface ServiceNetwork {
  /** Whether the machine has the addresses of the API and of DNS. */
  readonly hasAddresses: boolean
  readonly seesBridge: boolean
}

/** Fails where nothing could forward the traffic of services: they would be taken and do nothing. */
export async function checkServicePrograms(
  path: string,
  { without, nftProblem }: { readonly without: readonly string[]; readonly nftProblem: string | undefined },
): Promise<void> {
  if (without.includes('services') || (await findRulesProgram(nftProblem, path)) !== undefined) return
  const lacking = nftProblem === NFT_MISSING ? 'nftables' : 'iptables'
  const message = `Cannot forward traffic of Services: ${nftProblem}, and iptables is missing; on Debian: apt-get install ${lacking}, or leave them out by --without services`
  throw new NodeError(message, exitCodes.unfitMachine)
}

/**
 * Gives the machine the addresses of the API and of DNS, on a device of their own to which the whole range of services leads: pods reach both
 * without any translation, connections to services have a route on any machine, and what is not translated ends there.
 */
export async function prepareServiceNetwork(
  deps: Pick<StandaloneDeps, 'clock' | 'say'>,
  { services, isDualStack }: Pick<NodeLayout, 'services'> & { readonly isDualStack: boolean },
  signal: AbortSignal,
): Promise<ServiceNetwork> {
  const { device, apiAddress, dnsAddress, range6 } = services
  // A bridge without ports: every kernel that runs pods has it.
  await tryRun(deps.clock, ['ip', 'link', 'add', 'name', device, 'type', 'bridge'], signal)
  for (const address of [apiAddress, dnsAddress])
    await tryRun(deps.clock, ['ip', 'address', 'add', `${address}/${PREFIX}`, 'dev', device], signal)
  const first6 = range6.replace('::/', '::1/')
  if (isDualStack) await tryRun(deps.clock, ['ip', 'address', 'add', first6, 'dev', device, 'nodad'], signal)
  const problem = await tryRun(deps.clock, ['ip', 'link', 'set', 'dev', device, 'up'], signal)
  if (problem !== undefined)
    deps.say(`warning: pods cannot reach the API and DNS: the device ${device} cannot be made: ${problem}`)
  if (!knowsBridge()) await tryRun(deps.clock, ['modprobe', 'br_netfilter'], signal)
  ensureBridgeIsSeen()
  return { hasAddresses: problem === undefined, seesBridge: seesBridge() }
}

/** Whether what services have in the kernel is there: it outlives "deckhand up", and goes with "down" or the machine. */
export function hasServiceNetwork({ services }: Pick<NodeLayout, 'services'>): boolean {
  return readKernelSetting(`net.ipv4.conf.${services.device}.forwarding`) !== undefined
}

/** Names what of the machine's firewall would drop the traffic of pods and services: nothing here could let it through. */
export async function warnOfForwardDrops(
  { clock, say }: Pick<StandaloneDeps, 'clock' | 'say'>,
  program: RulesProgram,
  signal: AbortSignal,
): Promise<void> {
  const rules = program === 'iptables' ? new Iptables(clock) : new Nft(clock)
  const drops = await rules.forwardDrops(signal).catch(() => {
    signal.throwIfAborted()
    return []
  })
  for (const chain of drops)
    say(
      `warning: the chain "${chain}" drops forwarded packets that no rule of it accepts: pods may not reach each other, Services or the network`,
    )
}

/** Takes away rules of an earlier run that nothing keeps right any more: they would cut off new pods, or send connections to pods that are gone. */
export async function removeUnkeptRules(
  clock: Clock,
  { services }: Pick<NodeLayout, 'services'>,
  kept: {
    readonly services: RulesProgram | undefined
    readonly masquerade: RulesProgram | undefined
    readonly policies: boolean
  },
  signal: AbortSignal,
): Promise<void> {
  if (kept.services !== 'nft') await removeTable(clock, services.table, signal)
  if (kept.masquerade !== 'nft') await removeTable(clock, services.masqueradeTable, signal)
  const prefixes = [
    ...(kept.services === 'iptables' ? [] : [services.chainPrefix]),
    ...(kept.masquerade === 'iptables' ? [] : [services.masqueradePrefix]),
  ]
  await removeChains(clock, prefixes, signal)
  if (!kept.policies) await removeTable(clock, services.policyTable, signal)
}

/** Takes away what the node's services have in the kernel. */
export async function removeServiceNetwork(
  clock: Clock,
  { services }: Pick<NodeLayout, 'services'>,
  signal: AbortSignal,
): Promise<void> {
  const { table: own, policyTable, masqueradeTable } = services
  for (const table of [own, policyTable, masqueradeTable]) await removeTable(clock, table, signal)
  await removeChains(clock, [services.chainPrefix, services.masqueradePrefix], signal)
  await tryRun(clock, ['ip', 'link', 'delete', 'dev', services.device], signal)
}

async function removeTable(clock: Clock, table: string, signal: AbortSignal): Promise<void> {
  await new Nft(clock).remove(table, signal).catch(() => {
    // Without nft there is no table.
    signal.throwIfAborted()
  })
}

async function removeChains(clock: Clock, prefixes: readonly string[], signal: AbortSignal): Promise<void> {
  if (prefixes.length === 0) return
  const iptables = new Iptables(clock)
  for (const family of ['IPv4', 'IPv6'] as const) {
    try {
      const saved = await iptables.save(family, signal)
      for (const prefix of prefixes.filter((each) => hasOwnChains(each, saved)))
        await iptables.restore(family, formatIptablesInput(new IptablesBuilder(), prefix, saved), signal)
    } catch {
      // Without iptables there are no chains.
      signal.throwIfAborted()
    }
  }
}

/** What it complained of; undefined when it did well. */
async function tryRun(clock: Clock, argv: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  try {
    const { exitCode, stderr } = await runProcess(clock, { argv, deadlineMs: DEADLINE_MS }, signal)
    return exitCode === 0 ? undefined : stderr.trim() || `exit code ${exitCode}`
  } catch (error) {
    signal.throwIfAborted()
    return errorMessage(error)
  }
}
