import type { ContainerInjections } from '../../containers/container-injections.ts'
import type { Container, EphemeralContainer, ResourceStatus } from '../../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'

/** One who adds something to containers that their spec only counts or names, such as devices. */
export interface PodInjections {
  /**
   * Before anything of the pod starts; anew: nothing of it runs. Fails with an ExtrasError, whose end is the end of the pod. What is under way goes on when the
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
  /** How that which the containers of a pod have is, by container; empty where that is not told. */
  health(pod: Pod): ReadonlyMap<string, readonly ResourceStatus[]>
  /** Once nothing of the pod runs any more; also for pods that have nothing. The pod stays until this resolves; fails with an ExtrasError. */
  release(request: { readonly uid: PodUid; readonly noteStep: NoteStep }, signal: AbortSignal): Promise<void>
}
