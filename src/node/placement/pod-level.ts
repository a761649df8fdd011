import { compareQuantities, parseQuantity } from '../../model/resources/quantity.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { hasPodResources } from '../../model/resources/has-pod-resources.ts'

/**
 * What pods with resources of their own get for themselves: nothing, what single containers of them ask for, or all of it as a whole, which
 * their containers then divide.
 */
export type PodLevel = 'off' | 'container' | 'pod'

/** Where tables of what containers have keep what the pod has as a whole: no container has an empty name. */
export const WHOLE_POD = ''

/** May a container have something for itself? In a pod with resources of its own only one that would be Guaranteed alone. */
export function canOwn(pod: Pod, container: Pick<Container, 'resources'>, level: PodLevel): boolean {
  if (computeQosClass(pod) !== 'Guaranteed') return false
  return !hasPodResources(pod) || (level !== 'off' && isGuaranteedAlone(container))
}

/** Does the pod get what it has as a whole? */
export function isPlacedWhole(pod: Pod, level: PodLevel): boolean {
  return level === 'pod' && computeQosClass(pod) === 'Guaranteed' && hasPodResources(pod)
}

/** The containers of a pod with resources of its own that have nothing for themselves; none of other pods. */
export function listSharing(pod: Pod, level: PodLevel, hasOwn: (container: Container) => boolean): ReadonlySet<string> {
  if (level === 'off' || !hasPodResources(pod)) return new Set()
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  return new Set(containers.filter((container) => !hasOwn(container)).map(({ name }) => name))
}

function isGuaranteedAlone({ resources }: Pick<Container, 'resources'>): boolean {
  return ['cpu', 'memory'].every((name) => {
    const [request, limit] = [resources?.requests?.[name] ?? '0', resources?.limits?.[name] ?? '0'].map(parseQuantity)
    return request !== undefined && limit !== undefined && request.nanos > 0n && compareQuantities(request, limit) === 0
  })
}
