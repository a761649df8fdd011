import { truncateLog } from '../../system/directories/logs/truncate-log.ts'
import { formatExit, readStartFault, startAgent } from './agent/agent-process.ts'
import type { AgentProcess } from './agent/agent-process.ts'
import { knownContainerd, startContainerd } from './runtime/containerd.ts'
import { findNoted, findProcess, rememberProcess } from './known-process.ts'
import type { StandaloneDeps } from './node-deps.ts'
import type { NodeLayout } from './node-layout.ts'
import { BackOff } from '../../base/async/back-off.ts'

const CHECK_MS = 1000
// Twice for each log: the current and the one before.
const MAX_LOG_BYTES = 32 * 1024 * 1024
const RESTARTS = { firstMs: 1000, longestMs: 30_000 }
// One that ran this long was well; what ended it is not likely to end the next at once.
const WELL_AFTER_MS = 60_000

/** Starts the runtime and the agent again when they end by themselves and keeps their logs small, until the signal aborts. */
export async function runSupervision(
  deps: StandaloneDeps,
  node: {
    readonly layout: NodeLayout
    readonly nodeName: string
    readonly addresses: readonly string[]
    readonly privateRuntime: boolean
    readonly kubelet: readonly string[]
  },
  first: AgentProcess,
  signal: AbortSignal,
): Promise<void> {
  let agent = first
  const backOff = new BackOff(RESTARTS)
  let reportedFault: string | undefined
  const { agentLog, apiLog, controllersLog, upLog, containerd } = node.layout
  const files = [agentLog, apiLog, controllersLog, upLog, containerd.log]
  const logs = files.map((file) => ({ file, retry: createRetry(deps, signal) }))
  const retryRuntime = createRetry(deps, signal)
  const retryAgent = createRetry(deps, signal)
  const retryNotes = createRetry(deps, signal)
  while (!signal.aborted) {
    for (const { file, retry } of logs) await retry(() => truncateLog(file, MAX_LOG_BYTES))
    if (node.privateRuntime) await retryRuntime(() => keepRuntime(deps, node.layout, signal))
    const exit = agent.exit()
    if (exit !== undefined) {
      if (deps.clock.monotonic() - agent.startedAtMs > WELL_AFTER_MS) backOff.reset()
      const pauseMs = backOff.next()
      deps.say(`the agent ended (${formatExit(exit)}), starting it again in ${pauseMs / 1000} s; see ${agentLog}`)
      const fault = await readStartFault(agentLog)
      if (fault !== undefined && fault !== reportedFault) deps.say(fault)
      reportedFault = fault
      await deps.clock.sleep(pauseMs, signal)
      agent = (await retryAgent(() => startAgent(deps, node, node.kubelet))) ?? agent
    }
    await retryNotes(() => keepNotes(deps, node, agent))
    await deps.clock.sleep(CHECK_MS, signal)
  }
}

/** A node goes on whatever fails (a full disk above all): a failure is reported, once for each reason, and retried at the next check. */
function createRetry(deps: StandaloneDeps, signal: AbortSignal): <T>(work: () => Promise<T>) => Promise<T | undefined> {
  let reported = ''
  return async (work) => {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      const { message } = error as Error
      if (message !== reported) deps.say(message)
      reported = message
      return undefined
    }
  }
}

async function keepRuntime(deps: StandaloneDeps, layout: NodeLayout, signal: AbortSignal): Promise<void> {
  if ((await findProcess(knownContainerd(layout.containerd))) !== undefined) return
  deps.say('containerd ended, starting it again')
  await startContainerd(deps.clock, { paths: layout.containerd, enter: [] }, signal)
}

/** Notes the processes again that a full disk did not take. */
async function keepNotes(
  { pid }: StandaloneDeps,
  { layout, privateRuntime }: { readonly layout: NodeLayout; readonly privateRuntime: boolean },
  agent: AgentProcess,
): Promise<void> {
  if ((await findNoted(layout.upIdentity)) === undefined) {
    await rememberProcess(layout.upIdentity, pid, layout.upIdentity)
  }
  if (agent.exit() === undefined && (await findNoted(layout.agentIdentity)) === undefined) {
    await rememberProcess(layout.agentIdentity, agent.pid, layout.agentLog)
  }
  const { identity, log } = layout.containerd
  if (!privateRuntime || (await findNoted(identity)) !== undefined) return
  const running = await findProcess(knownContainerd(layout.containerd))
  if (running !== undefined) await rememberProcess(identity, running.pid, log)
}
