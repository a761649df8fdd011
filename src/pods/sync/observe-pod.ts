import type { PodEvents } from '../../model/events/pod-events.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { PodHistory } from './pod-history.ts'

export interface ObservePodDeps {
  readonly observer: {
    get(uid: PodUid): ObservedPod | undefined
    /** Asks the runtime about one pod, now. */
    refresh(uid: PodUid): Promise<ObservedPod | undefined>
  }
  readonly events: PodEvents
}

interface ObservePodContext {
  readonly deps: ObservePodDeps
  readonly history: PodHistory
}

/** What the runtime has of the pod. It is asked where the last observation may be older than what was done: nothing is ever made twice. */
export async function observePod(context: ObservePodContext, pod: Pod): Promise<ObservedPod | undefined> {
  const known = context.deps.observer.get(pod.metadata.uid)
  // A container that was made and not started may have been started since, by a call that seemed to fail.
  const inBetween = known?.containers.some(({ state }) => state === 'created') === true
  return known === undefined || context.history.unsure || inBetween ? await refreshPod(context, pod) : known
}

/** Asks the runtime about the pod, now. */
export async function refreshPod({ deps, history }: ObservePodContext, pod: Pod): Promise<ObservedPod | undefined> {
  try {
    const fresh = await deps.observer.refresh(pod.metadata.uid)
    history.unsure = false
    return fresh
  } catch (error) {
    // A runtime that is away is a problem of the node; one that cannot report this pod is a problem of the pod.
    if (error instanceof CriCallError && !['Unavailable', 'Cancelled'].includes(error.code)) {
      const message = `error determining status: ${error.rpcText}`
      deps.events.record(pod, { type: 'Warning', reason: 'FailedSync', message })
    }
    throw error
  }
}
