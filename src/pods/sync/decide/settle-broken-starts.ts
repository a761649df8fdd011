import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import { allContainers, isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { mayRestart } from '../../../model/pod/restart-policy.ts'

/**
 * What the runtime has of a pod, without the exits that are none: a start that ended with the agent that asked for it counts as never made
 * where the container starts again anyway. It gets neither a number nor a wait for it. What runs once may have run, and has ended.
 */
export function settleBrokenStarts(pod: Pod, observed: ObservedPod): ObservedPod {
  if (!observed.containers.some(({ isBrokenOff }) => isBrokenOff)) return observed
  return { ...observed, containers: observed.containers.map((instance) => settle(pod, instance)) }
}

function settle(pod: Pod, instance: ObservedContainer): ObservedContainer {
  if (instance.isBrokenOff !== true || !startsAgain(pod, instance)) return instance
  return { ...instance, state: 'created', startedAt: 0, exitCode: 0, reason: '', message: '' }
}

function startsAgain(pod: Pod, { name, exitCode }: ObservedContainer): boolean {
  const podContainer = allContainers(pod).find(({ container }) => container.name === name)
  if (podContainer === undefined || podContainer.kind === 'ephemeral') return false
  return isSidecar(podContainer.container) || mayRestart(pod, podContainer.container, exitCode)
}
