import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { LateRejection } from '../../model/pod/injections-error.ts'
import { emptyObservedPod } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isStaticPod, podLogName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { mayRestart } from '../../model/pod/restart-policy.ts'
import type { PodProbes } from '../probes/pod-probes.ts'
import { LOST_EXIT_CODE } from '../status/compute-container-statuses.ts'
import { isTerminalPhase } from '../status/compute-phase.ts'
import { applyPodActions } from './apply-pod-actions.ts'
import type { PassSignals } from './pod-pass.ts'
import { ensureCgroup } from './start/ensure-cgroup.ts'
import { prepareInjections } from './start/prepare-injections.ts'
import { mountVolumes } from './start/mount-volumes.ts'
import { computeLeftovers } from './decide/compute-leftovers.ts'
import { computeDeadlineOverride, deadlineAt } from './decide/compute-deadline.ts'
import { computePodActions } from './decide/compute-pod-actions.ts'
import { SandboxError } from './start/create-sandbox.ts'
import { settleBrokenStarts } from './decide/settle-broken-starts.ts'
import { hasNewRunningParts } from './decide/has-new-running-parts.ts'
import type { PodActions } from './decide/pod-actions.ts'
import { observePod, refreshPod } from './observe-pod.ts'
import type { ObservePodDeps } from './observe-pod.ts'
import { isNewFailure } from './pod-history.ts'
import type { PodHistory } from './pod-history.ts'
import type { PodTermination } from './stop/pod-termination.ts'
import { removeLeftovers, toLeftoverRule } from './stop/remove-leftovers.ts'
import { isResizing } from './resize/compute-resize-actions.ts'
import { reportLasting, reportSandboxWarnings } from './report/report-lasting.ts'
import { updatePodStatus } from './report/update-pod-status.ts'
import type { BackOffLimits } from '../../base/async/back-off.ts'
import type { PodLifeMetrics } from '../../metrics/pod-life-metrics.ts'
import type { ApplyPodActionsDeps } from './apply-pod-actions.ts'
import type { NodeSettings } from './node-settings.ts'
import type { EnsureCgroupDeps } from './start/ensure-cgroup.ts'
import type { MountVolumesDeps } from './start/mount-volumes.ts'
import type { PodInjections } from './start/pod-injections.ts'
import type { PrepareInjectionsDeps } from './start/prepare-injections.ts'
import type { UpdateStatusDeps } from './report/update-pod-status.ts'

export type SyncPodDeps = EnsureCgroupDeps &
  MountVolumesDeps &
  PrepareInjectionsDeps &
  ApplyPodActionsDeps &
  UpdateStatusDeps &
  ObservePodDeps & {
    readonly resizes: {
      /** Whether something of the pod still has another size than it was granted. */
      observed(pod: Pod, isResizing: boolean): void
    }
    readonly node: Pick<NodeSettings, 'deadContainerLeastMs' | 'deadInstancesKept'>
    readonly injections: Pick<PodInjections, 'rejectLost'>
    readonly metrics: Pick<PodLifeMetrics, 'podRejected'>
  }

/** What every pass of every pod needs besides the runtime. */
export interface SyncSettings {
  readonly runtimeName: string
  readonly backOffLimits: BackOffLimits
  readonly syncFrequencyMs: number
  /** Why pods outside the host network cannot start now; undefined when they can. */
  readonly networkProblem: () => string | undefined
}

export interface SyncContext {
  readonly deps: SyncPodDeps
  readonly settings: SyncSettings
  readonly history: PodHistory
  readonly termination: PodTermination
  readonly probes: Pick<PodProbes, 'sync' | 'status' | 'remember' | 'verdicts'>
  /** The status has changed, and the pass goes on with something that may take long. */
  readonly onStatus: () => void
}

/** What comes after a pass: the next one at once, after a while, or never because the pod is terminal, or was rejected although it was let in. */
export type SyncResult =
  | { readonly kind: 'again' }
  /** Seen: what the runtime had when it was decided to wait. Anything newer is a reason not to. */
  | { readonly kind: 'wait'; readonly ms: number; readonly seen: ObservedPod | undefined }
  | { readonly kind: 'finished' }
  | { readonly kind: 'rejected' }

const RETRY_MS = 10_000
const NETWORK_RETRY_MS = 1000
const RUNTIME_RETRY_MS = 1000
// A sandbox that dies as soon as it is made must not become a busy loop.
const SANDBOX_PAUSE_MS = 1000
const LOST = {
  phase: 'Failed',
  reason: 'SandboxLost',
  message: 'The sandbox of the pod ended before all containers had run, and its restart policy allows no new one',
}

/** One pass over a living pod with the resources it was granted: observe, report, decide, apply. What fails is logged and tried again. */
export async function syncPod(context: SyncContext, pod: Pod, signals: PassSignals): Promise<SyncResult> {
  const before = context.deps.observer.get(pod.metadata.uid)
  try {
    return await pass(context, pod, signals)
  } catch (error) {
    if (signals.shutdown.aborted || signals.superseded.aborted) throw error
    if (!(error instanceof SandboxError) && !(error instanceof CriCallError)) throw error
    context.history.problem = `Waits: ${error.message}`
    const { uid } = pod.metadata
    if (isNewFailure(context.history, error, context.deps.clock))
      context.deps.log.warn('cannot sync pod, will try again', { pod: podLogName(pod), uid, error })
    if (error instanceof SandboxError && error.isUnderWay) reportUnderWay(context, pod, error)
    // What the failed call did or did not do is observed before the next try.
    const fresh = await refreshPod(context, pod).catch(() => before)
    await trim(context, { pod, observed: fresh }, signals.shutdown)
    if (hasNewRunningParts(before, fresh)) return { kind: 'again' }
    return wait(context, pod, { ms: jitter(context.deps, retryDelay(error)), seen: fresh })
  }
}

/** A name that stays reserved, because the runtime never ends that try, is a pod that never starts. */
function reportUnderWay({ deps, history }: SyncContext, pod: Pod, { message }: SandboxError): void {
  const reason = 'FailedCreatePodSandBox'
  if (history.reported.isDueWhileItLasts(reason, message, deps.clock.monotonic()))
    deps.events.record(pod, { type: 'Warning', reason, message })
}

async function pass(context: SyncContext, pod: Pod, signals: PassSignals): Promise<SyncResult> {
  const { deps, history, probes } = context
  const seen = await observePod(context, pod)
  const observed = settleBrokenStarts(pod, seen ?? emptyObservedPod(pod.metadata))
  const late = computeDeadlineOverride(pod, { status: history.status, observed }, deps.clock.now())
  const actuated = deps.allocations.actuated(pod.metadata.uid)
  deps.resizes.observed(pod, isResizing({ pod, observed, actuated }))
  const rejection = isLostForGood(pod, observed) ? deps.injections.rejectLost(pod) : undefined
  if (rejection !== undefined) {
    await reject(context, { pod, observed }, rejection)
    return { kind: 'finished' }
  }
  await probes.sync(pod, seen, signals.shutdown)
  await updateStatus(context, { pod, observed, override: late })
  await probes.remember(pod, observed)
  if (late !== undefined) deps.events.record(pod, { type: 'Normal', reason: late.reason, message: late.message })
  if (isTerminalPhase(history.status?.phase)) return { kind: 'finished' }

  reportSandboxWarnings(deps, { pod, history })
  if (hasNetworkProblem(context, pod)) {
    return wait(context, pod, { ms: jitter(deps, NETWORK_RETRY_MS), seen })
  }
  const now = deps.clock.monotonic()
  const actions = computePodActions({
    pod,
    observed,
    probes: probes.verdicts,
    backOff: history.backOff,
    actuated,
    failedStarts: context.termination.failedStarts,
    now,
  })
  if (actions.ended && pod.metadata.deletionTimestamp === undefined) {
    await updateStatus(context, { pod, observed, override: LOST })
    return { kind: 'finished' }
  }
  const pause =
    actions.createSandbox && history.lastSandboxAt !== undefined
      ? history.lastSandboxAt + SANDBOX_PAUSE_MS - deps.clock.monotonic()
      : 0
  if (pause > 0) return wait(context, pod, { ms: pause, seen })
  // Volumes, images and graces may take long, and the API should know the reason before.
  if (changesSomething(actions)) context.onStatus()
  const cgroup = await ensureCgroup(context, { pod, observed, actions }, signals)
  if (cgroup === 'changed') return { kind: 'again' }
  if (cgroup === 'missing') return wait(context, pod, { ms: jitter(deps, RETRY_MS), seen })
  const volumes = await mountVolumes(context, { pod, actions }, signals)
  if (volumes === 'changed') return { kind: 'again' }
  if (volumes === 'missing') return wait(context, pod, { ms: jitter(deps, RETRY_MS), seen })
  const injections = await prepareInjections(context, { pod, actions }, signals)
  if (injections === 'changed') return { kind: 'again' }
  if (injections === 'missing') return wait(context, pod, { ms: jitter(deps, RETRY_MS), seen })
  if (injections !== 'there') {
    await reject(context, { pod, observed }, injections)
    return { kind: isStaticPod(pod) ? 'rejected' : 'finished' }
  }
  return await act(context, { pod, seen, observed, actions }, signals)
}

/** All its containers ran when they were last reported, nothing of the pod is left, and none may start again. */
function isLostForGood(pod: Pod, { containers, sandboxes }: ObservedPod): boolean {
  if (containers.length > 0 || sandboxes.length > 0) return false
  const running = pod.status?.containerStatuses?.filter(({ state }) => state?.running !== undefined) ?? []
  return pod.spec.containers.every(
    (each) => running.some(({ name }) => name === each.name) && !mayRestart(pod, each, LOST_EXIT_CODE),
  )
}

/** The pod was let in, and cannot have what it was promised. Shown as if it had never been let in. */
async function reject(
  context: SyncContext,
  { pod, observed }: Pick<Pass, 'pod' | 'observed'>,
  { reason, message }: LateRejection,
): Promise<void> {
  const { events, metrics } = context.deps
  events.record(pod, { type: 'Warning', reason, message })
  metrics.podRejected(reason)
  await updateStatus(context, {
    pod,
    observed,
    override: { phase: 'Failed', reason, message: `Pod was rejected: ${message}` },
  })
}

interface Pass {
  readonly pod: Pod
  readonly seen: ObservedPod | undefined
  readonly observed: ObservedPod
  readonly actions: PodActions
}

async function act(
  context: SyncContext,
  { pod, seen, observed, actions }: Pass,
  signals: PassSignals,
): Promise<SyncResult> {
  const { deps, settings, history, termination } = context
  const does = changesSomething(actions)
  if (does) history.unsure = true
  const reportNow = async () => {
    const made = await refreshPod(context, pod)
    history.unsure = true
    await updateStatus(context, { pod, observed: made ?? observed })
    context.onStatus()
  }
  const { backOffLimits } = settings
  const input = { pod, observed, actions, history, termination, backOffLimits, reportNow }
  const complete = await applyPodActions(deps, input, signals)
  history.problem = undefined
  const fresh = does ? await refreshPod(context, pod) : seen
  // A container that has to wait for its next start is shown as waiting at once, not when the wait has ended.
  if (does || actions.backingOff.length > 0)
    await updateStatus(context, { pod, observed: fresh ?? emptyObservedPod(pod.metadata) })
  await trim(context, { pod, observed: fresh }, signals.shutdown)
  if (!complete) return wait(context, pod, { ms: jitter(deps, RETRY_MS), seen: fresh })
  // Doing what changes nothing once more would change nothing again, and without end.
  // Not so with a resize: what was set is known, also where the runtime does not report it.
  if (does && (fresh !== seen || actions.resize !== undefined)) return { kind: 'again' }
  return wait(context, pod, { ms: nextCheck(context, actions), seen: fresh })
}

function changesSomething({ killPod, createSandbox, reset, resize, kill, start }: PodActions): boolean {
  return killPod || createSandbox || reset !== undefined || resize !== undefined || kill.length > 0 || start.length > 0
}

async function updateStatus(
  { deps, settings, history, probes }: SyncContext,
  update: Omit<Parameters<typeof updatePodStatus>[1], 'ended'>,
): Promise<void> {
  const context = { deps, history, probes, runtimeName: settings.runtimeName }
  const observed = settleBrokenStarts(update.pod, update.observed)
  await updatePodStatus(context, { ...update, observed, ended: false })
}

function hasNetworkProblem({ deps, settings, history }: SyncContext, pod: Pod): boolean {
  const reason = 'NetworkNotReady'
  const problem = pod.spec.hostNetwork === true ? undefined : settings.networkProblem()
  if (problem === undefined) history.reported.forget(reason)
  else reportLasting(deps, { pod, history }, { subject: reason, reason, message: `network is not ready: ${problem}` })
  return problem !== undefined
}

/** What is left over does no harm, so a failure to remove it is no reason to hold up the pod. */
async function trim(
  { deps, history }: SyncContext,
  { pod, observed }: { readonly pod: Pod; readonly observed: ObservedPod | undefined },
  shutdown: AbortSignal,
): Promise<void> {
  if (observed === undefined) return
  try {
    const leftovers = computeLeftovers(observed, toLeftoverRule(deps, history))
    await removeLeftovers(deps, { ...pod.metadata, history }, leftovers, shutdown)
  } catch (error) {
    if (shutdown.aborted) throw error
    const { uid } = pod.metadata
    deps.log.warn('cannot remove what is left over of a pod, will try again', { pod: podLogName(pod), uid, error })
  }
}

function retryDelay(error: Error): number {
  const cause = error instanceof CriCallError ? error : error.cause
  if (cause instanceof CriCallError && (cause.code === 'Unavailable' || cause.detail.includes('is reserved for')))
    return RUNTIME_RETRY_MS
  return RETRY_MS
}

function nextCheck({ deps, settings }: SyncContext, actions: PodActions): number {
  const now = deps.clock.monotonic()
  return Math.min(
    jitter(deps, settings.syncFrequencyMs),
    ...actions.backingOff.map(({ untilMs }) => Math.max(0, untilMs - now)),
  )
}

/** Never longer than the pod may be active. */
function wait(
  context: SyncContext,
  pod: Pod,
  { ms, seen }: { readonly ms: number; readonly seen: ObservedPod | undefined },
): SyncResult {
  const deadline = deadlineAt(pod, { status: context.history.status, observed: seen })
  const left = deadline === undefined ? ms : Math.max(0, deadline - context.deps.clock.now())
  return { kind: 'wait', ms: Math.min(ms, left), seen }
}

/** Spreads what many pods would do at the same moment: 1.0 to 1.5 times. */
function jitter(deps: SyncPodDeps, ms: number): number {
  return ms * (1 + deps.random() / 2)
}
