import type { BackOffLimits } from '../../base/async/back-off.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { PodActions } from './decide/pod-actions.ts'
import type { PodHistory } from './pod-history.ts'
import type { PodTermination } from './stop/pod-termination.ts'

/** One pass over a pod: what is known of it, and what is to be done. */
export interface PodPass {
  /** With the resources that it was granted. */
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly actions: PodActions
  readonly history: PodHistory
  readonly backOffLimits: BackOffLimits
  /** Reports the pod as it is in the middle of the pass: the sandbox is made, and what comes next takes long. */
  readonly reportNow: () => Promise<void>
  readonly termination: PodTermination
}

/** What ends a pass early: the agent leaves, or the pod is no longer to be started. The second stops only what may wait for long. */
export interface PassSignals {
  readonly shutdown: AbortSignal
  readonly superseded: AbortSignal
}
