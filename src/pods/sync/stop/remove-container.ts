import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import { unlessGone } from './stop-container.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { CriClient } from '../../../protocols/cri/cri-client.ts'

export interface RemoveContainerDeps {
  readonly calls: Pick<CriCalls, 'removeContainer'> & Pick<CriClient, 'containerdDeleteTask'>
  readonly cgroups: {
    /** Ends every process in the cgroup of one container of a pod. */
    killContainer(uid: PodUid, containerId: string): Promise<void>
  }
  readonly clock: Clock
}

// The runtime learns of the end of a process from its own watchers.
const HEARD_AFTER_MS = 500

/**
 * Removes a container that does not run; what is gone already is fine. A start that the runtime broke off, because its caller died, can leave
 * a process behind that the runtime no longer counts as a part of the container and yet does not remove the container without: then we end it,
 * and have containerd forget it (docs/decisions/0027-lost-tasks.md).
 */
export async function removeContainer(
  deps: RemoveContainerDeps,
  { uid, id }: { readonly uid: PodUid; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  const remove = () => unlessGone(deps.calls.removeContainer({ containerId: id }, signal))
  try {
    await remove()
  } catch (error) {
    if (!(error instanceof CriCallError && error.code === 'FailedPrecondition')) throw error
    await deps.cgroups.killContainer(uid, id)
    await deps.clock.sleep(HEARD_AFTER_MS, signal)
    await deleteLostTask(deps, id, signal)
    await remove()
  }
}

/** Only containerd is known to lose tasks, and only containerd has this call. */
async function deleteLostTask({ calls }: RemoveContainerDeps, id: string, signal: AbortSignal): Promise<void> {
  try {
    await calls.containerdDeleteTask({ containerId: id }, signal)
  } catch (error) {
    if (!(error instanceof CriCallError && error.code === 'Unimplemented')) throw error
  }
}
