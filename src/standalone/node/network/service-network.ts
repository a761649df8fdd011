import type { Clock } from '../../../base/async/clock.ts'
import { isProgram } from '../../../system/files/is-program.ts'
import { Nft } from '../../../system/network/nft.ts'
import { runProcess } from '../../../system/processes/run-process.ts'
import type { StandaloneDeps } from '../node-deps.ts'
import { exitCodes, NodeError } from '../node-error.ts'
import type { NodeLayout } from '../node-layout.ts'
import { ensureBridgeIsSeen, knowsBridge, seesBridge } from './policy-refusal.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

const DEADLINE_MS = 10_000
const PREFIX = 16

/** What of the machine's network services can rely on. */
export interface ServiceNetwork {
  /** Whether the machine has the addresses of the API and of DNS. */
  readonly hasAddresses: boolean
  readonly seesBridge: boolean
}

/** Fails where nothing could forward the traffic of services: they would be taken and do nothing. */
export async function checkServicePrograms(path: string, without: readonly string[]): Promise<void> {
  if (without.includes('services') || (await isProgram('nft', path))) return
  const message =
    'Cannot forward traffic of Services: nft is missing; on Debian: apt-get install nftables, or leave them out by --without services'
  throw new NodeError(message, exitCodes.unfitMachine)
}

/**
 * Gives the machine the addresses of the API and of DNS, on a device of their own to which the whole range of services leads: pods reach both
 * without any translation, connections to services have a route on any machine, and what is not translated ends there.
 */
export async function prepareServiceNetwork(
  deps: Pick<StandaloneDeps, 'clock' | 'say'>,
  { services }: Pick<NodeLayout, 'services'>,
  signal: AbortSignal,
): Promise<ServiceNetwork> {
  const { device, apiAddress, dnsAddress } = services
  // A bridge without ports: every kernel that runs pods has it.
  await tryRun(deps.clock, ['ip', 'link', 'add', 'name', device, 'type', 'bridge'], signal)
  for (const address of [apiAddress, dnsAddress])
    await tryRun(deps.clock, ['ip', 'address', 'add', `${address}/${PREFIX}`, 'dev', device], signal)
  const problem = await tryRun(deps.clock, ['ip', 'link', 'set', 'dev', device, 'up'], signal)
  if (problem !== undefined)
    deps.say(`warning: pods cannot reach the API and DNS: the device ${device} cannot be made: ${problem}`)
  if (!knowsBridge()) await tryRun(deps.clock, ['modprobe', 'br_netfilter'], signal)
  ensureBridgeIsSeen()
  return { hasAddresses: problem === undefined, seesBridge: seesBridge() }
}

/** Takes away rules of an earlier run that nothing keeps right any more: they would cut off new pods, or send connections to pods that are gone. */
export async function removeUnkeptRules(
  clock: Clock,
  { services }: Pick<NodeLayout, 'services'>,
  kept: { readonly services: boolean; readonly policies: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (!kept.services) await removeTable(clock, services.table, signal)
  if (!kept.policies) await removeTable(clock, services.policyTable, signal)
}

/** Takes away what the node's services have in the kernel. */
export async function removeServiceNetwork(
  clock: Clock,
  { services }: Pick<NodeLayout, 'services'>,
  signal: AbortSignal,
): Promise<void> {
  for (const table of [services.table, services.policyTable]) await removeTable(clock, table, signal)
  await tryRun(clock, ['ip', 'link', 'delete', 'dev', services.device], signal)
}

async function removeTable(clock: Clock, table: string, signal: AbortSignal): Promise<void> {
  await new Nft(clock).remove(table, signal).catch(() => {
    // Without nft there is no table.
    signal.throwIfAborted()
  })
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
