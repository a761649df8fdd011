import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { ProcessRequest, ProcessResult } from '../../system/processes/run-process.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { CANARY_CHAIN, computeIptablesInput, type IptablesFamily } from './compute-iptables-input.ts'

export interface IptablesDeps {
  /** Runs a program to its end; fails when there is none. */
  readonly runProcess: (request: ProcessRequest, signal: AbortSignal) => Promise<ProcessResult>
  readonly clock: Clock
  readonly log: Logger
}

const PROGRAMS: Readonly<Record<IptablesFamily, string>> = { ipv4: 'iptables', ipv6: 'ip6tables' }
const CHECK_MS = 60_000
const DEADLINE_MS = 30_000
// How long they wait for each other.
const WAIT = ['-w', '5'] as const
// The exit code of iptables when it could not read the table, which does not mean that the chain is missing.
const IS_BUSY = 4
// A node with tens of thousands of services; more is not worth reading.
const LARGEST_TABLE_BYTES = 256 * 1024 * 1024

/** Keeps the chains that others on the node rely on in the tables of iptables, for both families as far as the machine has them. */
export async function runIptablesChains(deps: IptablesDeps, signal: AbortSignal): Promise<void> {
  await using group = new TaskGroup(signal)
  for (const family of ['ipv4', 'ipv6'] as const) group.run(`chains of ${family}`, (s) => runFamily(deps, family, s))
  await group.join()
}

async function runFamily(deps: IptablesDeps, family: IptablesFamily, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  try {
    await setUp(deps, family, signal)
    log.info('iptables chains are there', { family })
  } catch (error) {
    signal.throwIfAborted()
    log.info('cannot use iptables, going on without its chains', { family, error })
    return
  }
  for (;;) {
    await clock.sleep(CHECK_MS, signal)
    try {
      if (await isCanaryThere(deps, family, signal)) continue
      log.info('iptables was flushed, setting up its chains again', { family })
      await setUp(deps, family, signal)
    } catch (error) {
      signal.throwIfAborted()
      log.warn('cannot set up the iptables chains, will try again', { family, error })
    }
  }
}

async function setUp(deps: IptablesDeps, family: IptablesFamily, signal: AbortSignal): Promise<void> {
  const program = PROGRAMS[family]
  const filter =
    family === 'ipv4' ? await run(deps, { argv: [`${program}-save`, '-t', 'filter'] }, signal) : { stdout: '' }
  const stdin = computeIptablesInput(family, filter.stdout)
  await run(deps, { argv: [`${program}-restore`, '--noflush', ...WAIT], stdin }, signal)
}

/** One table stands for all: a flush of one flushes the others too. */
async function isCanaryThere(deps: IptablesDeps, family: IptablesFamily, signal: AbortSignal): Promise<boolean> {
  const argv = [PROGRAMS[family], ...WAIT, '-t', 'mangle', '-S', CANARY_CHAIN]
  const { exitCode } = await deps.runProcess({ argv, deadlineMs: DEADLINE_MS }, signal)
  return exitCode === 0 || exitCode === IS_BUSY
}

async function run(
  deps: IptablesDeps,
  request: Pick<ProcessRequest, 'argv' | 'stdin'>,
  signal: AbortSignal,
): Promise<ProcessResult> {
  const limits = { deadlineMs: DEADLINE_MS, maxOutputBytes: LARGEST_TABLE_BYTES }
  const result = await deps.runProcess({ ...request, ...limits }, signal)
  if (result.exitCode === 0) return result
  const said = result.stderr.trim().slice(-1000)
  throw new Error(`Cannot run "${request.argv.join(' ')}": exit code ${result.exitCode}, expected 0: ${said}`)
}
