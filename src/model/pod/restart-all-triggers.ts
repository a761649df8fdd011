import { newestInstance } from './observed-pod.ts'
import type { ObservedPod } from './observed-pod.ts'
import type { Pod } from './pod.ts'
import { asksToRestartAll } from './restart-policy.ts'

/**
 * Names of the containers whose end asks for a new start of all containers of their pod. What an older sandbox left behind asks for
 * nothing: with the new sandbox everything has started again.
 */
export function restartAllTriggers(pod: Pod, observed: ObservedPod): readonly string[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
    .filter((container) => {
      const instance = newestInstance(observed, container.name)
      if (instance?.state !== 'exited' || instance.sandboxId !== observed.sandboxes[0]?.id) return false
      return asksToRestartAll(pod, container, instance.exitCode)
    })
    .map(({ name }) => name)
}
