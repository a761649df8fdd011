import type { ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { compareQuantities, parseQuantity } from '../../model/resources/quantity.ts'
import { RESIZABLE } from '../../model/resources/same-resources.ts'

type Amounts = Readonly<Record<string, string>>

/** The pod with the larger of two requests for each of its parts: what it was granted, and what it still has. */
export function computeReservedPod(pod: Pod, actuated: PodAllocation): Pod {
  const { containers, initContainers, resources } = pod.spec
  const each = containers.map((container) => ({
    ...container,
    resources: withLarger(container.resources, actuated.containers.get(container.name)),
  }))
  const init = initContainers?.map((container) => ({
    ...container,
    resources: withLarger(container.resources, actuated.containers.get(container.name)),
  }))
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: each,
      ...(init === undefined ? {} : { initContainers: init }),
      ...(resources === undefined ? {} : { resources: withLarger(resources, actuated.pod) }),
    },
  }
}

function withLarger(
  granted: ResourceRequirements | undefined,
  actual: ResourceRequirements | undefined,
): ResourceRequirements | undefined {
  const more = RESIZABLE.flatMap((name): readonly (readonly [string, string])[] => {
    const [before, now] = [actual?.requests?.[name], granted?.requests?.[name]]
    return before !== undefined && isLarger(before, now) ? [[name, before]] : []
  })
  if (more.length === 0) return granted
  const requests: Amounts = { ...granted?.requests, ...Object.fromEntries(more) }
  return { ...granted, requests }
}

function isLarger(a: string, b: string | undefined): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b ?? '0')) > 0
}
