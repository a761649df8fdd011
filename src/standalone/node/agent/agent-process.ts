import { BackOff } from '../../../base/async/back-off.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { startProcess } from '../../../system/processes/start-process.ts'
import type { ProcessExit } from '../../../system/processes/start-process.ts'
import { readTextIfPresent } from '../../../system/files/files-and-folders.ts'
import { isHealthy } from './agent-client.ts'
import { rememberProcess, stopProcess, UnnotedError } from '../known-process.ts'
import type { KnownProcess } from '../known-process.ts'
import type { StandaloneDeps } from '../node-deps.ts'
import { exitCodes, NodeError } from '../node-error.ts'
import type { NodeLayout } from '../node-layout.ts'
import type { NodeRecord } from '../node-record.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

const GRACE_MS = 15_000

/** The agent as a process of its own. */
export interface AgentProcess {
  readonly pid: number
  readonly startedAtMs: number
  /** How it ended; undefined while it runs. */
  readonly exit: () => ProcessExit | undefined
}

// A machine that boots, or has more to do than it can, takes minutes; an agent that cannot start ends by itself.
const HEALTHY_DEADLINE_MS = 300_000
const LONG_MS = 30_000
const WAITS = { firstMs: 20, longestMs: 500, factor: 1.2 }
const SHOWN_LOG_LINES = 15

/** Starts the agent with the configuration that is in the state folder. */
export async function startAgent(
  deps: StandaloneDeps,
  node: StartedNode,
  kubelet: readonly string[],
): Promise<AgentProcess> {
  const { layout } = node
  const argv = [...kubelet, ...agentFlags(node)]
  const startedAtMs = deps.clock.monotonic()
  const started = await startProcess({ argv, logFile: layout.agentLog })
  let exit: ProcessExit | undefined
  void started.exited.then((value) => (exit = value)) // Never rejects.
  try {
    await rememberProcess(layout.agentIdentity, started.pid, layout.agentLog)
  } catch (error) {
    // On a full disk an agent must run all the more: it is what frees space. The supervision reports it, and notes the agent later.
    if (!(error instanceof UnnotedError))
      throw new NodeError(`Cannot start the agent: ${errorMessage(error)}`, exitCodes.failed, { cause: error })
  }
  return { pid: started.pid, startedAtMs, exit: () => exit }
}

/** What the agent is started for. */
type StartedNode = { readonly layout: NodeLayout } & Pick<NodeRecord, 'nodeName' | 'addresses'>

/** How other commands find the agent. */
export function knownAgent(node: { readonly layout: NodeLayout; readonly nodeName: string }): KnownProcess {
  // Without the first two: an agent may have been started with another address, and one of an earlier version without a folder of settings.
  const [, ...flags] = agentFlags({ layout: node.layout, nodeName: node.nodeName })
  return { file: node.layout.agentIdentity, command: flags }
}

/** Ends the agent, if it runs; pods and runtime stay. True when there was one. */
export async function stopAgent(
  clock: Clock,
  node: { readonly layout: NodeLayout; readonly nodeName: string },
  signal: AbortSignal,
): Promise<boolean> {
  return await stopProcess(clock, { ...knownAgent(node), graceMs: GRACE_MS }, signal)
}

/** The arguments of the agent. */
export function agentFlags({ layout, nodeName, addresses = [] }: StartedNode): readonly string[] {
  const flags = {
    ...(addresses.length === 0 ? {} : { 'node-ip': addresses.join(',') }),
    'config-dir': layout.settings,
    config: layout.agentConfig,
    'root-dir': layout.agentRoot,
    'cert-dir': layout.certificates,
    kubeconfig: layout.agentKubeconfig,
    'hostname-override': nodeName,
  }
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
}

/** Waits until the agent is healthy; fails with what it logged last when it is not to be. */
export async function waitUntilHealthy(
  deps: StandaloneDeps,
  node: { readonly agent: AgentProcess; readonly layout: NodeLayout; readonly record: NodeRecord },
  signal: AbortSignal,
): Promise<void> {
  const startedAt = deps.clock.monotonic()
  const waits = new BackOff(WAITS)
  let isReported = false
  while (!(await isHealthy(node.record.ports, signal))) {
    const exit = node.agent.exit()
    const waitedMs = deps.clock.monotonic() - startedAt
    if (waitedMs > LONG_MS && !isReported) {
      isReported = true
      deps.say(`agent not healthy yet (pid ${node.agent.pid}), still waiting; its log is ${node.layout.agentLog}`)
    }
    if (exit !== undefined || waitedMs > HEALTHY_DEADLINE_MS) {
      const state =
        exit === undefined ? `not healthy after ${HEALTHY_DEADLINE_MS} ms` : `it ended (${formatExit(exit)})`
      const lines = await lastLines(node.layout.agentLog)
      throw new NodeError(
        `Cannot start the agent: ${state}. Its log, ${node.layout.agentLog}, ends:\n${lines}`,
        exitCodes.failed,
      )
    }
    await deps.clock.sleep(waits.next(), signal)
  }
}

/** How a process ended, in words. */
export function formatExit({ exitCode, signal }: ProcessExit): string {
  return exitCode === undefined ? `signal ${signal}` : `exit code ${exitCode}`
}

/** Why an agent that ended did not want to run, when it said so: what it found wrong at its start. */
export async function readStartFault(file: string): Promise<string | undefined> {
  const lines = ((await readTextIfPresent(file)) ?? '').trimEnd().split('\n').slice(-SHOWN_LOG_LINES)
  const first = lines.findLastIndex((line) => line.startsWith('Cannot '))
  // Whatever it logs itself begins otherwise; after this it says nothing more.
  return first < 0 || lines.slice(first + 1).some((line) => !line.startsWith(' '))
    ? undefined
    : lines.slice(first).join('\n')
}

async function lastLines(file: string): Promise<string> {
  const lines = ((await readTextIfPresent(file)) ?? '').trimEnd().split('\n')
  return lines
    .slice(-SHOWN_LOG_LINES)
    .map((line) => `  ${line}`)
    .join('\n')
}
