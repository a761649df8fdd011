import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import { KUBERNETES_NAMESPACE } from '../../protocols/cri/containerd/containerd-events.ts'
import { parseEndpoint } from '../../protocols/cri/parse-endpoint.ts'
import type { ShimProcess } from '../../system/processes/find-shims.ts'
import type { ProcessIdentity } from '../../system/processes/process-identity.ts'

export interface ShimCollectionDeps {
  readonly calls: Pick<CriCalls, 'podSandboxStatus' | 'containerStatus'> & Pick<CriClient, 'containerdHas'>
  readonly processes: {
    /** The shims of the containerd that the agent uses, in the namespace of Kubernetes. */
    findShims(): Promise<readonly ShimProcess[]>
    /** SIGKILL, to exactly this process; false when it is gone. */
    kill(process: ProcessIdentity): Promise<boolean>
  }
  readonly log: Logger
}

export interface RunShimCollectionDeps extends Pick<ShimCollectionDeps, 'calls' | 'log'> {
  readonly runtime: { readonly name: string }
  readonly runtimeEndpoint: string
  readonly host: {
    /** The shims of the containerd at a socket, in one of its namespaces. */
    findShims(where: { readonly socketPath: string; readonly namespace: string }): Promise<readonly ShimProcess[]>
    killProcess(process: ProcessIdentity): Promise<boolean>
  }
  /** The longest time that a call to the runtime may take. */
  readonly requestTimeoutMs: number
  readonly clock: Clock
}

const LEAST_PERIOD_MS = 300_000
// A sandbox gets twice the time of other calls; its shim is there before the runtime lists it.
const CALLS_FOR_A_SANDBOX = 3

/**
 * Ends shims of whose container the runtime knows nothing any more: a call that breaks off in containerd can leave one, and nothing else would
 * ever end it (docs/decisions/0027-lost-tasks.md). Only what was so in two rounds, far apart, is ended. Only containerd has shims that
 * outlive what it knows.
 */
export async function runShimCollection(given: RunShimCollectionDeps, signal: AbortSignal): Promise<void> {
  const { runtime, runtimeEndpoint, host, clock, log, requestTimeoutMs } = given
  if (runtime.name !== 'containerd') return
  const { socketPath } = parseEndpoint(runtimeEndpoint)
  const deps: ShimCollectionDeps = {
    calls: given.calls,
    processes: {
      findShims: () => host.findShims({ socketPath, namespace: KUBERNETES_NAMESPACE }),
      kill: (process) => host.killProcess(process),
    },
    log,
  }
  const periodMs = Math.max(LEAST_PERIOD_MS, CALLS_FOR_A_SANDBOX * requestTimeoutMs)
  let suspects: ReadonlySet<string> = new Set()
  for (;;) {
    await clock.sleep(periodMs, signal)
    try {
      suspects = await collectShims(deps, suspects, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      // Doubt is no proof: what was suspected has to be found so in two further rounds.
      suspects = new Set()
      log.warn('cannot look for forgotten shims of the runtime', { error })
    }
  }
}

/** One round: ends the forgotten shims that were suspected before, and returns those that are to be watched. */
export async function collectShims(
  deps: ShimCollectionDeps,
  suspects: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const shim of await deps.processes.findShims()) {
    if (!(await isForgotten(deps, shim, signal))) continue
    const key = `${shim.process.bootId} ${shim.process.pid} ${shim.process.startTicks}`
    if (!suspects.has(key)) {
      found.add(key)
      continue
    }
    deps.log.warn('ending a shim whose container the runtime has forgotten', { id: shim.id, shimPid: shim.process.pid })
    for (const { process } of shim.children) await deps.processes.kill(process)
    await deps.processes.kill(shim.process)
  }
  return found
}

/** Neither its own container nor that of any process below it is known, and it is clear to which container each of them belongs. */
async function isForgotten(deps: ShimCollectionDeps, { id, children }: ShimProcess, signal: AbortSignal) {
  for (const containerId of new Set([id, ...children.map((child) => child.containerId)])) {
    if (containerId === undefined || (await isKnown(deps, containerId, signal))) return false
  }
  return true
}

/** Lists may be short or empty for other reasons: only "not found" to each question about this very id counts. */
async function isKnown({ calls }: ShimCollectionDeps, id: string, signal: AbortSignal): Promise<boolean> {
  return (
    (await calls.containerdHas(id, signal)) ||
    (await isFound(calls.podSandboxStatus({ podSandboxId: id }, signal))) ||
    (await isFound(calls.containerStatus({ containerId: id }, signal)))
  )
}

async function isFound(reply: Promise<unknown>): Promise<boolean> {
  try {
    await reply
    return true
  } catch (error) {
    if (error instanceof CriCallError && error.code === 'NotFound') return false
    throw error
  }
}
