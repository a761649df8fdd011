import type { Container, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { ResizeScope } from '../../../model/resources/pod-allocation.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { parseQuantity } from '../../../model/resources/quantity.ts'
import { sameCpuAndMemory } from '../../../model/resources/same-resources.ts'

/** One amount of one container that an update of a pod changes. */
export interface ResizedAmount {
  readonly resource: 'cpu' | 'memory'
  readonly requirement: 'requests' | 'limits'
  readonly operation: 'add' | 'remove' | 'increase' | 'decrease'
}

/** What an update of a pod asks for in other amounts; `resizes` also when only the pod as a whole is to be another size. */
export function computeResizeRequests(
  before: Pod,
  after: Pod,
  scope: ResizeScope,
): { readonly requests: readonly ResizedAmount[]; readonly resizes: boolean } {
  const old = new Map(listResizable(before, scope).map((container) => [container.name, container]))
  const requests = listResizable(after, scope).flatMap((container) => {
    const same = old.get(container.name)
    return same === undefined ? [] : compare(same.resources, container.resources)
  })
  const isOther = scope.podLevel && !sameCpuAndMemory(before.spec.resources, after.spec.resources)
  return { requests, resizes: requests.length > 0 || isOther }
}

function listResizable({ spec }: Pod, scope: ResizeScope): readonly Container[] {
  const init = (spec.initContainers ?? []).filter((container) => scope.initContainers || isSidecar(container))
  return [...init, ...spec.containers]
}

function compare(
  before: ResourceRequirements | undefined,
  after: ResourceRequirements | undefined,
): readonly ResizedAmount[] {
  return (['memory', 'cpu'] as const).flatMap((resource) =>
    (['requests', 'limits'] as const).flatMap((requirement): readonly ResizedAmount[] => {
      const old = parseQuantity(before?.[requirement]?.[resource] ?? '0').nanos
      const now = parseQuantity(after?.[requirement]?.[resource] ?? '0').nanos
      if (old === now) return []
      const operation = now === 0n ? 'remove' : old === 0n ? 'add' : now < old ? 'decrease' : 'increase'
      return [{ resource, requirement, operation }]
    }),
  )
}
