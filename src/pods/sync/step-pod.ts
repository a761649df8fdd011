import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { PodAllocations } from '../allocations/pod-allocations.ts'
import { isTerminalPhase } from '../status/compute-phase.ts'
import type { PassSignals } from './pod-pass.ts'
import { cleanUpPod } from './clean-up-pod.ts'
import type { CleanUpPodDeps } from './clean-up-pod.ts'
import type { ExitJournal } from './report/exit-journal.ts'
import type { PodLife } from './pod-life.ts'
import type { PodProbing, PodProbingDeps } from './probing/pod-probing.ts'
import { computeProgress, computeTermination, isDesired, runsAgain, terminatedAt } from './pod-state.ts'
import type { TerminatedState, TerminationCause } from './pod-state.ts'
import { syncPod } from './sync-pod.ts'
import type { SyncPodDeps, SyncSettings } from './sync-pod.ts'
import { terminatePod } from './terminate-pod.ts'
import type { TerminatePodDeps } from './terminate-pod.ts'
import type { PodTerminationDeps } from './stop/pod-termination.ts'

export type StepPodDeps = SyncPodDeps &
  TerminatePodDeps &
  CleanUpPodDeps &
  PodProbingDeps &
  PodTerminationDeps & {
    readonly allocations: Pick<PodAllocations, 'allocated'>
    readonly journal: Pick<ExitJournal, 'record'>
  }

/** What a step needs besides the pod itself. */
export interface StepContext {
  readonly deps: StepPodDeps
  readonly settings: SyncSettings
  readonly life: PodLife
  readonly probing: PodProbing
  /** The status has changed, and the step goes on with something that may take long. */
  readonly onStatus: () => void
  /** Nothing of the pod runs any more. */
  readonly onEnded: () => void
}

/** When the worker looks at its pod again after a step. */
export interface NextWake {
  /** How long to wait for a wakeup; undefined for as long as it takes. */
  readonly ms: number | undefined
  /** What the runtime had of the pod when it was decided to wait. Anything newer is a reason not to. */
  readonly seen: ObservedPod | undefined
}

/** The next step of a pod, by the state of its life. */
export async function stepPod(context: StepContext, signals: PassSignals): Promise<NextWake> {
  const { deps, life } = context
  const state = life.state.value
  switch (state.kind) {
    case 'waiting':
    case 'gone':
      return { ms: undefined, seen: deps.observer.get(life.identity.uid) }
    case 'syncing':
      return await sync(context, signals)
    case 'terminating':
      return await inTurn(context, state, () => terminate(context, signals.shutdown), signals.shutdown)
    case 'terminated':
      return await cleanUp(context, state, signals.shutdown)
  }
}

const AT_ONCE: NextWake = { ms: 0, seen: undefined }

async function sync({ deps, settings, life, probing, onStatus }: StepContext, signals: PassSignals): Promise<NextWake> {
  const { history, termination, state } = life
  const pod = withAllocatedResources(deps, life)
  if (pod === undefined) throw new Error('Cannot sync a pod without a spec')
  const result = await syncPod({ deps, settings, history, termination, probes: probing.probes, onStatus }, pod, signals)
  if (state.value.kind !== 'syncing') return AT_ONCE
  if (result.kind === 'finished' || result.kind === 'rejected') {
    const readmits = result.kind === 'rejected'
    history.problem = undefined
    if (!readmits) await recordEnd(deps, life)
    state.set(computeTermination(state.value, { cause: 'finished', graceSeconds: undefined, readmits }))
  }
  return result.kind === 'wait' ? result : AT_ONCE
}

// What has to make room first, then what still runs; what only takes up disk space comes last, in clean-up-pod.ts.
const EVICTED_PRIORITY = 2
const RUNNING_PRIORITY = 1

/** Not when the machine shuts down: it does not wait, and each pod has its own limit then. */
async function inTurn(
  { deps }: StepContext,
  { cause }: { readonly cause: TerminationCause },
  work: () => Promise<NextWake>,
  shutdown: AbortSignal,
): Promise<NextWake> {
  if (deps.terminations.isNodeEnding()) return await work()
  return await deps.ends.runInTurn(cause === 'evicted' ? EVICTED_PRIORITY : RUNNING_PRIORITY, work, shutdown)
}

async function terminate({ deps, life, probing, onEnded }: StepContext, shutdown: AbortSignal): Promise<NextWake> {
  const { state, identity, logName, termination } = life
  // It may have become less while the pod waited for its turn.
  const graceSeconds = state.value.kind === 'terminating' ? state.value.graceSeconds : undefined
  const ending = { ...toEnding(deps, life), probing, graceSeconds, termination }
  const result = await terminatePod(deps, ending, shutdown)
  if (result.kind === 'wait') return result
  if (life.pod !== undefined && isDesired(state.value)) await recordEnd(deps, life)
  if (state.value.kind === 'terminating') state.set(terminatedAt(deps.clock.monotonic(), state.value.after))
  deps.log.info('pod ended', { pod: logName, uid: identity.uid, phase: life.status?.phase })
  onEnded()
  return AT_ONCE
}

async function cleanUp({ deps, life }: StepContext, ended: TerminatedState, shutdown: AbortSignal): Promise<NextWake> {
  const { state } = life
  const advance = (progress: TerminatedState['progress']) => {
    const dropped = progress === 'cleaned' && ended.remains !== 'kept'
    state.set(computeProgress(state.value, { progress, dropped }))
  }
  const onUnmounted = () => advance('unmounted')
  const result = await cleanUpPod(deps, { ...toEnding(deps, life), state: ended, onUnmounted }, shutdown)
  if (result.kind === 'gone') {
    state.set({ kind: 'gone' })
    return AT_ONCE
  }
  advance(result.progress)
  return result
}

/** From here on the pod never runs again, whatever happens to the agent or the runtime. */
async function recordEnd({ journal }: StepPodDeps, { state, status, identity }: PodLife): Promise<void> {
  if (!runsAgain(state.value) && status !== undefined && isTerminalPhase(status.phase))
    await journal.record(identity.uid, status)
}

/** The pod with what it was granted; its spec may ask for something else. */
export function withAllocatedResources(
  { allocations }: Pick<StepPodDeps, 'allocations'>,
  { pod }: PodLife,
): Pod | undefined {
  return pod && allocations.allocated(pod)
}

function toEnding(deps: StepPodDeps, life: PodLife) {
  return {
    pod: withAllocatedResources(deps, life),
    observed: () => life.observed(deps.observer),
    history: life.history,
  }
}
