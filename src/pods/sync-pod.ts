import { CriCallError } from '../cri/cri-call-error.ts'
import { computeQosClass } from '../model/compute-qos-class.ts'
import { emptyObservedPod } from '../model/observed-pod.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import { podLogName } from '../model/pod.ts'
import type { Pod } from '../model/pod.ts'
import { computePodStatus } from '../status/compute-pod-status.ts'
import type { StatusInput } from '../status/status-input.ts'
import { applyPodActions } from './apply-pod-actions.ts'
import type { CrashBackOffLimits } from './compute-crash-back-off.ts'
import { computeLeftovers } from './compute-leftovers.ts'
import { computePodActions } from './compute-pod-actions.ts'
import { SandboxError } from './create-sandbox.ts'
import type { PodActions } from './pod-actions.ts'
import type { PodMemory } from './pod-memory.ts'
import type { PodRuntime } from './pod-runtime.ts'
import { noProbeVerdicts } from './probe-verdicts.ts'
import { removeLeftovers } from './remove-leftovers.ts'

/** What every pass of every pod needs besides the runtime. */
export interface SyncSettings {
  readonly runtimeName: string
  readonly backOffLimits: CrashBackOffLimits
  readonly syncFrequencyMs: number
  /** Why pods outside the host network cannot start now; undefined when they can. */
  readonly networkProblem: () => string | undefined
}

/** What comes after a pass: look again at once, after a while, or never because the pod is over. */
export type SyncResult =
  | { readonly kind: 'again' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'finished' }

const RETRY_MS = 10_000
const NETWORK_RETRY_MS = 1000
const RUNTIME_RETRY_MS = 1000
const DEADLINE_MESSAGE = 'Pod was active on the node longer than the specified deadline'
// A sandbox that dies as soon as it is made must not become a busy loop.
const SANDBOX_PAUSE_MS = 1000

const TERMINATION_MESSAGE_BYTES = 4096

/** One pass over a living pod: look, say, decide, do. */
export async function syncPod(
  context: { readonly runtime: PodRuntime; readonly settings: SyncSettings; readonly memory: PodMemory },
  pod: Pod,
  signals: { readonly shutdown: AbortSignal; readonly superseded: AbortSignal },
): Promise<SyncResult> {
  const { runtime, settings, memory } = context
  const observed = runtime.observer.get(pod.metadata.uid) ?? emptyObservedPod(pod.metadata)
  const now = runtime.clock.now()
  const late = deadlinePassed(pod, memory, now)
  await updateStatus(context, pod, { ended: false, override: late ? DEADLINE : undefined })
  if (late) runtime.events.record(pod, { type: 'Normal', reason: 'DeadlineExceeded', message: DEADLINE_MESSAGE })
  if (memory.status?.phase === 'Succeeded' || memory.status?.phase === 'Failed') return { kind: 'finished' }

  const problem = pod.spec.hostNetwork === true ? undefined : settings.networkProblem()
  if (problem !== undefined) {
    runtime.events.record(pod, {
      type: 'Warning',
      reason: 'NetworkNotReady',
      message: `network is not ready: ${problem}`,
    })
    return { kind: 'wait', ms: jitter(runtime, NETWORK_RETRY_MS) }
  }
  const backOffLimits = settings.backOffLimits
  const actions = computePodActions({
    pod,
    observed,
    probes: noProbeVerdicts,
    backOff: memory.backOff,
    backOffLimits,
    now,
  })
  const pause =
    actions.createSandbox && memory.lastSandboxAt !== undefined ? memory.lastSandboxAt + SANDBOX_PAUSE_MS - now : 0
  if (pause > 0) return { kind: 'wait', ms: pause }
  return await act(context, { pod, observed, actions }, signals)
}

const DEADLINE = { phase: 'Failed', reason: 'DeadlineExceeded', message: DEADLINE_MESSAGE }

interface Pass {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly actions: PodActions
}

async function act(
  context: { readonly runtime: PodRuntime; readonly settings: SyncSettings; readonly memory: PodMemory },
  { pod, observed, actions }: Pass,
  signals: { readonly shutdown: AbortSignal; readonly superseded: AbortSignal },
): Promise<SyncResult> {
  const { runtime, settings, memory } = context
  const { uid } = pod.metadata
  const does = actions.killPod || actions.createSandbox || actions.kill.length > 0 || actions.start.length > 0
  try {
    const input = { pod, observed, actions, memory, backOffLimits: settings.backOffLimits }
    const complete = await applyPodActions(runtime, input, signals)
    const fresh = does ? await runtime.observer.refresh(uid) : observed
    // A container that has to wait for its next start is shown as waiting at once, not when the wait is over.
    if (does || actions.backingOff.length > 0) await updateStatus(context, pod, { ended: false })
    await removeLeftovers(
      runtime,
      pod.metadata,
      computeLeftovers(fresh ?? observed, runtime.node.deadInstancesKept),
      signals.shutdown,
    )
    if (!does) return { kind: 'wait', ms: nextLook(runtime, settings, { pod, actions, memory }) }
    if (complete) return { kind: 'again' }
    return { kind: 'wait', ms: jitter(runtime, RETRY_MS) }
  } catch (error) {
    if (signals.shutdown.aborted || signals.superseded.aborted) throw error
    if (!(error instanceof SandboxError) && !(error instanceof CriCallError)) throw error
    runtime.log.warn('cannot bring pod to its spec, will try again', { pod: podLogName(pod), uid, error })
    // Whatever the failed call did or did not do is seen before the next try.
    await runtime.observer.refresh(uid).catch(() => {})
    return { kind: 'wait', ms: jitter(runtime, retryDelay(error)) }
  }
}

function retryDelay(error: Error): number {
  const cause = error instanceof CriCallError ? error : error.cause
  if (cause instanceof CriCallError && (cause.code === 'Unavailable' || cause.detail.includes('is reserved for')))
    return RUNTIME_RETRY_MS
  return RETRY_MS
}

function nextLook(
  runtime: PodRuntime,
  settings: SyncSettings,
  { pod, actions, memory }: { readonly pod: Pod; readonly actions: PodActions; readonly memory: PodMemory },
): number {
  const now = runtime.clock.now()
  const backOffEnds = actions.backingOff.map(({ untilMs }) => untilMs - now)
  const deadline = deadlineAt(pod, memory)
  return Math.max(
    0,
    Math.min(
      jitter(runtime, settings.syncFrequencyMs),
      ...backOffEnds,
      ...(deadline === undefined ? [] : [deadline - now]),
    ),
  )
}

/** Spreads what many pods would do at the same moment: 1.0 to 1.5 times. */
function jitter(runtime: PodRuntime, ms: number): number {
  return ms * (1 + runtime.random() / 2)
}

function deadlineAt(pod: Pod, memory: PodMemory): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds
  const startTime = memory.status?.startTime
  return seconds === undefined || startTime === undefined ? undefined : Date.parse(startTime) + seconds * 1000
}

function deadlinePassed(pod: Pod, memory: PodMemory, now: number): boolean {
  const deadline = deadlineAt(pod, memory)
  return (
    deadline !== undefined &&
    now >= deadline &&
    memory.status?.phase !== 'Failed' &&
    memory.status?.phase !== 'Succeeded'
  )
}

/** Computes the status anew and keeps it. */
export async function updateStatus(
  context: { readonly runtime: PodRuntime; readonly settings: SyncSettings; readonly memory: PodMemory },
  pod: Pod,
  options: { readonly ended: boolean; readonly override?: StatusInput['override'] },
): Promise<void> {
  const { runtime, settings, memory } = context
  const observed = runtime.observer.get(pod.metadata.uid) ?? emptyObservedPod(pod.metadata)
  await readLastWords(runtime, observed, memory)
  memory.status = computePodStatus({
    pod,
    observed,
    previous: memory.status,
    waiting: memory.waiting,
    started: new Map(),
    ready: new Map(),
    lastWords: memory.lastWords,
    ended: options.ended,
    runtimeName: settings.runtimeName,
    nodeIps: runtime.node.container.ips,
    qosClass: computeQosClass(pod),
    override: options.override,
    now: runtime.clock.now(),
  })
}

async function readLastWords(runtime: PodRuntime, observed: ObservedPod, memory: PodMemory): Promise<void> {
  const exited = observed.containers.filter(({ state }) => state === 'exited')
  for (const id of memory.lastWords.keys())
    if (!exited.some((container) => container.id === id)) memory.lastWords.delete(id)
  for (const { id, terminationLog } of exited) {
    if (memory.lastWords.has(id)) continue
    memory.lastWords.set(
      id,
      terminationLog === '' ? '' : await runtime.files.readTerminationLog(terminationLog, TERMINATION_MESSAGE_BYTES),
    )
  }
}
