import { isStaticPod } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { isTerminalPhase } from '../../status/compute-phase.ts'
import { terminatedAt } from '../pod-state.ts'
import type { PodState } from '../pod-state.ts'
import { computePodGrace } from './compute-grace.ts'

/** A pod that is terminal or being deleted when it is first seen is only ended; of one that never ran here there is nothing to end. */
export function computeFirstState(
  pod: Pod,
  { wasObserved, now }: { readonly wasObserved: boolean; /** On the monotonic clock. */ readonly now: number },
): PodState {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined
  if (!isDeleted && !isTerminalInApi(pod)) return { kind: 'syncing' }
  const hasRun = (pod.status?.containerStatuses?.length ?? 0) > 0 || wasObserved
  if (isTerminalInApi(pod) && !hasRun) return terminatedAt(now, 'keep')
  const graceSeconds = computePodGrace(pod, { recorded: undefined, override: undefined })
  return { kind: 'terminating', cause: isDeleted ? 'deleted' : 'finished', graceSeconds, after: 'keep' }
}

/** The API says that the pod is terminal. What a manifest says of its own status counts for nothing. */
export function isTerminalInApi(pod: Pod): boolean {
  return !isStaticPod(pod) && isTerminalPhase(pod.status?.phase)
}
