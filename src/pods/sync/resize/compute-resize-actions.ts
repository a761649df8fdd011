import type { Container } from '../../../model/generated/core-v1.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { ContainerResizeAction, PodActions, PodResizeActions } from '../decide/pod-actions.ts'
import { computeContainerResize, isPodResized } from './compute-container-resize.ts'

/** What a pod has, as far as is known. */
export interface ResizeInput {
  /** With the resources that it was granted. */
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly actuated: PodAllocation | undefined
}

/** Containers that run and get what they were granted by a new start only. */
export function computeResizeRestarts({ pod, observed, actuated }: ResizeInput): ReadonlySet<string> {
  const names = listContainers(pod)
    .filter((container) => newestInstance(observed, container.name)?.state === 'running')
    .filter((container) => computeContainerResize(container, pod.spec.resources, actuated)?.restart === true)
    .map(({ name }) => name)
  return new Set(names)
}

/** What is to be changed where it runs; undefined when nothing is. */
export function computeResizeActions(
  input: ResizeInput,
  { killPod, kill, start }: Pick<PodActions, 'killPod' | 'kill' | 'start'>,
): PodResizeActions | undefined {
  const { pod, observed, actuated } = input
  const resized = listContainers(pod).flatMap((container) => {
    const resize = computeContainerResize(container, pod.spec.resources, actuated)
    return resize === undefined ? [] : [{ container, resize }]
  })
  const updates = resized.flatMap(({ container, resize }): readonly ContainerResizeAction[] => {
    const instance = newestInstance(observed, container.name)
    const stays = instance?.state === 'running' && !killPod && !kill.some(({ id }) => id === instance.id)
    if (!stays || resize.restart) return []
    return [{ id: instance.id, name: container.name, cpu: resize.cpu, memory: resize.memory }]
  })
  const startsResized = resized.some(({ container }) => start.some(({ name }) => name === container.name))
  return updates.length > 0 || startsResized || isPodResized(pod.spec.resources, actuated) ? { updates } : undefined
}

/** Does something that runs have another size than it was granted? */
export function isResizing({ pod, observed, actuated }: ResizeInput): boolean {
  const running = listContainers(pod).filter(({ name }) => newestInstance(observed, name)?.state === 'running')
  return (
    running.some((container) => computeContainerResize(container, pod.spec.resources, actuated) !== undefined) ||
    isPodResized(pod.spec.resources, actuated)
  )
}

function listContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers]
}
