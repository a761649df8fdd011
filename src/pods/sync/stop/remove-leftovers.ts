import { containerLogSymlink } from '../../containers/log-paths.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Leftovers } from '../decide/compute-leftovers.ts'
import type { PodRuntime } from '../pod-runtime.ts'
import { removeContainer } from './remove-container.ts'
import { unlessGone } from './stop-container.ts'
import { stopLeftover } from './stop-leftover.ts'

/** Removes dead containers with their logs, and dead sandboxes; what may still run is stopped first. What is gone already is fine. */
export async function removeLeftovers(
  runtime: PodRuntime,
  observed: Pick<ObservedPod, 'name' | 'namespace' | 'uid'>,
  leftovers: Leftovers,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    leftovers.containers.map(async (container) => {
      const { id, name, logPath, state } = container
      if (state === 'unknown') await stopLeftover(runtime, { observed, container, podIp: undefined }, signal)
      await runtime.files.removeLogs(logPath, containerLogSymlink({ metadata: observed }, name, id))
      await removeContainer(runtime, { uid: observed.uid, id }, signal)
    }),
  )
  await Promise.all(
    leftovers.sandboxes.map(async ({ id }) => {
      await runtime.calls.stopPodSandbox({ podSandboxId: id }, signal)
      await unlessGone(runtime.calls.removePodSandbox({ podSandboxId: id }, signal))
    }),
  )
}
