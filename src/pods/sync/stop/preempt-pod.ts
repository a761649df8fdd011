import type { Logger } from '../../../base/telemetry/logger.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { Eviction } from './evict-pod.ts'

export interface PreemptPodDeps {
  readonly registry: { evict(uid: PodUid, eviction: Eviction, signal: AbortSignal): Promise<void> }
  readonly log: Logger
}

/** Ends a pod, with its own grace period, for another one that has to run here. */
export async function preemptPod(
  { registry, log }: PreemptPodDeps,
  { pod, eviction }: { readonly pod: Pod; readonly eviction: Omit<Eviction, 'graceSeconds'> },
  signal: AbortSignal,
): Promise<void> {
  try {
    await registry.evict(pod.metadata.uid, { ...eviction, graceSeconds: undefined }, signal)
  } catch (error) {
    signal.throwIfAborted()
    // Its worker goes on; the pod that needs the room is tried again when it is there.
    log.warn('a preempted pod does not end in time', { pod: podLogName(pod), reason: eviction.reason, error })
  }
}
