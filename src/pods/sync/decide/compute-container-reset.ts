import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { ContainerReset, ContainerStart } from './pod-actions.ts'

/**
 * What has to go so that all containers of a pod restart: the others first and the newest instances of those that asked for it last.
 * When this is broken off in between, what is left still asks for it. Containers for debugging stay.
 */
export function computeContainerReset(
  { spec }: Pod,
  observed: ObservedPod,
  triggers: readonly ContainerStart[],
): ContainerReset {
  const asked = (name: string) => triggers.some((trigger) => trigger.name === name)
  const regular = new Set(spec.containers.map(({ name }) => name))
  const init = new Set((spec.initContainers ?? []).map(({ name }) => name))
  const isNewest = ({ id, name }: ObservedContainer) => newestInstance(observed, name)?.id === id
  const groups = [
    observed.containers.filter(({ name }) => regular.has(name) && !asked(name)),
    observed.containers.filter(({ name }) => init.has(name) && !asked(name)),
    observed.containers.filter((instance) => asked(instance.name) && !isNewest(instance)),
    observed.containers.filter((instance) => asked(instance.name) && isNewest(instance)),
  ]
  return { triggers, groups: groups.filter((group) => group.length > 0) }
}
