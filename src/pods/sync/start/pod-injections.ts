import type { ContainerInjections } from '../../containers/container-injections.ts'
import type { Container, EphemeralContainer, ResourceStatus } from '../../../model/generated/core-v1.ts'
import type { LateRejection } from '../../../model/pod/injections-error.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'

/** A provider of what the spec of a container only counts or names, such as devices. */
export interface PodInjections {
  /**
   * Before anything of the pod starts; startsAgain: nothing of it runs. Fails with an InjectionsError, whose end is the end of the pod. What is under way goes on when the
   * signal aborts, and the next call waits for the same.
   */
  ensure(
    request: { readonly pod: Pod; readonly startsAgain: boolean; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<void>
  /** What one container gets, each time before it is made. A failure is the container's, and is tried again. */
  containerInjections(
    request: { readonly pod: Pod; readonly container: Container | EphemeralContainer; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<ContainerInjections>
  /** Why a pod that lost all its containers while no agent ran is rejected, as if it came now; undefined when it is not. */
  rejectLost(pod: Pod): LateRejection | undefined
  /** The health of the devices that the containers of a pod have, by container; empty where it is not reported. */
  health(pod: Pod): ReadonlyMap<string, readonly ResourceStatus[]>
  /** Once nothing of the pod runs any more; also for pods that have nothing. The pod stays until this resolves; fails with an InjectionsError. */
  release(request: { readonly uid: PodUid; readonly noteStep: NoteStep }, signal: AbortSignal): Promise<void>
}
