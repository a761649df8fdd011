import { containerLogSymlink } from '../containers/log-paths.ts'
import { CriCallError } from '../cri/cri-call-error.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import type { Leftovers } from './compute-leftovers.ts'
import type { PodRuntime } from './pod-runtime.ts'

/** Removes dead containers with their logs, and dead sandboxes. What is gone already is fine. */
export async function removeLeftovers(
  runtime: PodRuntime,
  observed: Pick<ObservedPod, 'name' | 'namespace' | 'uid'>,
  leftovers: Leftovers,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    leftovers.containers.map(async ({ id, name, logPath }) => {
      await runtime.files.removeLogs(logPath, containerLogSymlink({ metadata: observed }, name, id))
      await unlessGone(runtime.calls.removeContainer({ containerId: id }, signal))
    }),
  )
  await Promise.all(
    leftovers.sandboxes.map(async ({ id }) => {
      await runtime.calls.stopPodSandbox({ podSandboxId: id }, signal)
      await unlessGone(runtime.calls.removePodSandbox({ podSandboxId: id }, signal))
    }),
  )
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof CriCallError && error.code === 'NotFound')) throw error
  }
}
