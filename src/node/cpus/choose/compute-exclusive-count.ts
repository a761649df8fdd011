import type { Container } from '../../../model/generated/core-v1.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../../model/resources/quantity.ts'
import { canOwn, isPlacedWhole } from '../../placement/pod-level.ts'
import type { PodLevel } from '../../placement/pod-level.ts'

/** How many CPUs a container gets exclusively: all it asks for, when it may own some and that is a whole number; otherwise none. */
export function computeExclusiveCount(pod: Pod, container: Pick<Container, 'resources'>, level: PodLevel): number {
  return canOwn(pod, container, level) ? toWholeCount(container.resources?.requests?.['cpu']) : 0
}

/** How many CPUs containers of the pod have for themselves at one time, at most; all of the pod's own, when it is placed as a whole. */
export function computePodExclusiveCount(pod: Pod, level: PodLevel): number {
  if (isPlacedWhole(pod, level)) return toWholeCount(pod.spec.resources?.requests?.['cpu'])
  let [sidecars, peak] = [0, 0]
  for (const container of pod.spec.initContainers ?? []) {
    const count = computeExclusiveCount(pod, container, level)
    peak = Math.max(peak, sidecars + count)
    if (isSidecar(container)) sidecars += count
  }
  const regular = pod.spec.containers.reduce((sum, container) => sum + computeExclusiveCount(pod, container, level), 0)
  return Math.max(peak, sidecars + regular)
}

/** A part of a CPU is no reason to own one. */
function toWholeCount(request = '0'): number {
  const amount = parseQuantity(request)
  const count = quantityValue(amount)
  return count * 1000n === quantityMilliValue(amount) ? Number(count) : 0
}
