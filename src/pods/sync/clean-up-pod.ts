import type { Turnstile } from '../../base/async/turnstile.ts'
import { podLogDirectory } from '../containers/log-paths.ts'
import { hasRunningParts } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { VolumesError } from '../../model/pod/volumes-error.ts'
import { computeLeftovers } from './decide/compute-leftovers.ts'
import type { Leftovers } from './decide/compute-leftovers.ts'
import { removeLeftovers, toLeftoverRule } from './stop/remove-leftovers.ts'
import { ORPHAN_GRACE_SECONDS, stopAndRefresh } from './stop/stop-and-refresh.ts'
import type { StopInput, StopAndRefreshDeps } from './stop/stop-and-refresh.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { CleanUpProgress, TerminatedState } from './pod-state.ts'
import { isDesired } from './pod-state.ts'
import type { NodeSettings } from './node-settings.ts'
import type { PodHistory } from './pod-history.ts'
import type { LeftoversOwner, RemoveLeftoversDeps } from './stop/remove-leftovers.ts'

export type CleanUpPodDeps = StopAndRefreshDeps &
  RemoveLeftoversDeps & {
    readonly volumes: {
      /** Resolves when nothing of them is left; fails with a VolumesError. Only when nothing of the pod runs any more. */
      release(request: { readonly uid: PodUid; readonly noteStep: NoteStep }, signal: AbortSignal): Promise<void>
    }
    readonly references: {
      /** Nothing of the pod needs the objects of the API that it refers to. */
      unregister(uid: PodUid): void
    }
    readonly observer: { get(uid: PodUid): ObservedPod | undefined }
    /** Pods end a few at a time (docs/decisions/0005-turnstile.md). */
    readonly ends: Pick<Turnstile, 'runInTurn'>
    readonly cgroups: {
      /** Removes the cgroups of a pod in which nothing runs any more. */
      remove(uid: PodUid): Promise<void>
    }
    readonly files: {
      /** Removes what the agent itself made for a pod; never what is inside a volume, and nothing that others put there. */
      removePod(uid: PodUid, logDirectory: string | undefined): Promise<unknown>
    }
    readonly node: Pick<NodeSettings, 'podLogsDirectory' | 'deadContainerLeastMs' | 'deadInstancesKept'>
  }

export interface CleanUpPodInput extends StopInput {
  readonly state: TerminatedState
  /** The last of its volumes is gone; what follows may still fail. */
  readonly onUnmounted: () => void
}

export type CleanUpResult =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'wait'
      /** Undefined for as long as it takes. */
      readonly ms: number | undefined
      readonly seen: ObservedPod | undefined
      readonly progress: CleanUpProgress
    }

const RETRY_MS = 1000
// After all that still runs.
const REMOVAL_PRIORITY = 0
// Log collectors get a moment to read the last lines before the files go.
const LINGER_MS = 5000

/** Removes what is left of a pod that has ended: one that is still desired keeps its newest remains, one that is not keeps nothing. */
export async function cleanUpPod(
  deps: CleanUpPodDeps,
  ended: CleanUpPodInput,
  shutdown: AbortSignal,
): Promise<CleanUpResult> {
  const { state, history } = ended
  const observed = ended.observed()
  const { uid } = observed
  // A call that had been given up came through after all.
  if (hasRunningParts(observed)) {
    const { seen, retryMs } = await stopAndRefresh(deps, { ...ended, graceSeconds: ORPHAN_GRACE_SECONDS }, shutdown)
    return { kind: 'wait', ms: retryMs ?? 0, seen, progress: 'stopped' }
  }
  const seen = deps.observer.get(uid)
  if (!(await releaseVolumes(deps, observed, shutdown)))
    return { kind: 'wait', ms: RETRY_MS, seen, progress: 'stopped' }
  ended.onUnmounted()
  if (isDesired(state)) {
    const owner = { ...observed, history }
    const leftovers = state.remains === 'kept' ? computeLeftovers(observed, toLeftoverRule(deps, history)) : observed
    await removeInTurn(deps, owner, leftovers, shutdown)
    if (state.progress !== 'cleaned') await deps.cgroups.remove(uid)
    return { kind: 'wait', ms: undefined, seen, progress: 'cleaned' }
  }
  const ms = lingerMs(deps, state, observed)
  return ms > 0
    ? { kind: 'wait', ms, seen, progress: 'unmounted' }
    : await removeAll(deps, { observed, history }, shutdown)
}

/** How long what is left of a pod that is not desired stays yet: not at all when a new worker waits for its place. */
function lingerMs(deps: CleanUpPodDeps, { at, after }: TerminatedState, observed: ObservedPod): number {
  return after === 'replace' ? 0 : Math.max(at + LINGER_MS - deps.clock.monotonic(), tooYoungMs(deps, observed))
}

/** How long the youngest container has to stay yet. */
function tooYoungMs({ node, clock }: CleanUpPodDeps, { containers }: ObservedPod): number {
  const newest = Math.max(0, ...containers.map(({ createdAt }) => createdAt))
  const leastMs = node.deadContainerLeastMs
  // The runtime's clock may be ahead of ours.
  return Math.min(leastMs, newest + leastMs - clock.now())
}

/** Nothing runs any more, so nothing needs them. The pod stays until they are gone. */
async function releaseVolumes(
  { volumes, references, noteStep, log }: CleanUpPodDeps,
  { uid, namespace, name }: ObservedPod,
  shutdown: AbortSignal,
): Promise<boolean> {
  try {
    await volumes.release({ uid, noteStep }, shutdown)
    references.unregister(uid)
    return true
  } catch (error) {
    if (!(error instanceof VolumesError)) throw error
    log.warn('cannot take the volumes of a pod away, will try again', { pod: `${namespace}/${name}`, uid, error })
    return false
  }
}

async function removeAll(
  deps: CleanUpPodDeps,
  { observed, history }: { readonly observed: ObservedPod; readonly history: PodHistory },
  shutdown: AbortSignal,
): Promise<CleanUpResult> {
  const { uid, namespace, name } = observed
  await removeInTurn(deps, { ...observed, history }, observed, shutdown)
  const seen = await deps.observer.refresh(uid)
  if (seen !== undefined) {
    deps.log.warn('runtime still has parts of a removed pod, will try again', { pod: `${namespace}/${name}`, uid })
    return { kind: 'wait', ms: RETRY_MS, seen, progress: 'unmounted' }
  }
  await deps.cgroups.remove(uid)
  const logs = podLogDirectory(deps.node.podLogsDirectory, { metadata: observed })
  await deps.files.removePod(uid, name === '' ? undefined : logs)
  return { kind: 'gone' }
}

async function removeInTurn(
  deps: CleanUpPodDeps,
  owner: LeftoversOwner,
  leftovers: Leftovers,
  shutdown: AbortSignal,
): Promise<void> {
  if (leftovers.containers.length === 0 && leftovers.sandboxes.length === 0) return
  await deps.ends.runInTurn(REMOVAL_PRIORITY, () => removeLeftovers(deps, owner, leftovers, shutdown), shutdown)
}
