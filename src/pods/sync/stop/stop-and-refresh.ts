import { hasRunningParts } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import { Grace } from './grace.ts'
import { hasNewRunningParts } from '../decide/has-new-running-parts.ts'
import type { PodHistory } from '../pod-history.ts'
import type { PodTermination } from './pod-termination.ts'
import { stopPod } from './stop-pod.ts'
import type { StopPodDeps } from './stop-pod.ts'
import { computeBackOff } from '../../../base/async/back-off.ts'

export type StopAndRefreshDeps = StopPodDeps & {
  readonly observer: {
    /** Asks the runtime about one pod, now. */
    refresh(uid: PodUid): Promise<ObservedPod | undefined>
  }
}

/** What stopping needs: a pod that is to end, with what is known and remembered of it. */
export interface StopInput {
  /** Undefined for an orphan: what is left of a pod that no source has. */
  readonly pod: Pod | undefined
  /** What is known of it when asked; it may be older than what was done. */
  readonly observed: () => ObservedPod
  readonly history: PodHistory
  /** How far its end is; undefined for what runs again although the pod had ended. */
  readonly termination?: PodTermination | undefined
}

export interface StopResult {
  readonly seen: ObservedPod | undefined
  /** Undefined when nothing runs any more, else when to try again. */
  readonly retryMs: number | undefined
}

// What an unknown pod would need cannot be known, so it gets the least.
export const ORPHAN_GRACE_SECONDS = 1
// A runtime that is behind with its work says that a container has stopped before it knows so itself: asked again and again, it gets no further.
const RETRIES = { firstMs: 1000, longestMs: 10_000 }

/** Stops all that runs of a pod and observes the result. */
export async function stopAndRefresh(
  deps: StopAndRefreshDeps,
  { pod, observed, history, termination, graceSeconds }: StopInput & { readonly graceSeconds: number },
  shutdown: AbortSignal,
): Promise<StopResult> {
  const { uid, namespace, name } = observed()
  // A sandbox that is stopped takes its containers with it: one that a pass started, and that was not observed yet, must get its grace too.
  if (history.unsure) await deps.observer.refresh(uid)
  history.unsure = false
  const known = observed()
  using grace = new Grace({ clock: deps.clock, seconds: graceSeconds, among: history.graces })
  await stopPod(
    deps,
    { pod, observed: known, grace, stoppedSandboxes: history.stoppedSandboxes, termination },
    shutdown,
  )
  const seen = await deps.observer.refresh(uid)
  if (seen === undefined || !hasRunningParts(seen)) {
    history.failedStops = 0
    return { seen, retryMs: undefined }
  }
  // Something that was under way when the end was asked for is there only now; anything else did not stop.
  if (hasNewRunningParts(known, seen)) return { seen, retryMs: 0 }
  deps.log.warn('pod still runs after it was stopped, will try again', { pod: `${namespace}/${name}`, uid })
  history.failedStops += 1
  return { seen, retryMs: computeBackOff(RETRIES, history.failedStops) }
}
