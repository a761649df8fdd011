import { computeQosClass } from '../../../model/resources/compute-qos-class.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import type { ResizeScope } from '../../../model/resources/pod-allocation.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { compareQuantities, parseQuantity } from '../../../model/resources/quantity.ts'
import { sameResources } from '../../../model/resources/same-resources.ts'

/** What the node cannot do for a pod that runs, however much room there is. */
export interface ResizeRules {
  readonly scope: ResizeScope
  /** Whole CPUs belong to containers of Guaranteed pods. */
  readonly staticCpus: boolean
  /** Memory of single NUMA nodes belongs to containers of Guaranteed pods. */
  readonly staticMemory: boolean
  /** May a container of this pod use swap? */
  readonly usesSwap: (pod: Pod, container: Container) => boolean
}

/** Why a resize is never possible here. */
export interface ResizeRejection {
  readonly message: string
  /** What is counted of it. */
  readonly detail:
    | 'plr_feature_gate_off'
    | 'swap_limitation'
    | 'guaranteed_pod_cpu_manager_static_policy'
    | 'guaranteed_pod_memory_manager_static_policy'
}

/** Undefined when the resize is possible as soon as there is room. */
export function computeResizeRejection(
  { pod, allocated }: { readonly pod: Pod; readonly allocated: Pod },
  rules: ResizeRules,
): ResizeRejection | undefined {
  const pairs = listPairs(pod, allocated)
  const changesSwap = ({ wanted, granted }: Pair) =>
    !isSame(wanted, granted, 'memory') &&
    !restartsForMemory(granted) &&
    (rules.usesSwap(pod, wanted) || rules.usesSwap(allocated, granted))
  if (pairs.some(changesSwap)) {
    return { message: 'In-place resize of containers with swap is not supported.', detail: 'swap_limitation' }
  }
  if (!rules.scope.podLevel && !sameResources(pod.spec.resources, allocated.spec.resources)) {
    return { message: 'InPlacePodLevelResourcesVerticalScaling is disabled', detail: 'plr_feature_gate_off' }
  }
  if (computeQosClass(pod) !== 'Guaranteed') return undefined
  const changes = (name: string) => pairs.some(({ wanted, granted }) => !isSame(wanted, granted, name))
  if (rules.staticCpus && changes('cpu')) {
    return { message: pinned('CPU', 'static'), detail: 'guaranteed_pod_cpu_manager_static_policy' }
  }
  if (rules.staticMemory && changes('memory')) {
    return { message: pinned('Memory', 'Static'), detail: 'guaranteed_pod_memory_manager_static_policy' }
  }
  return undefined
}

interface Pair {
  readonly wanted: Container
  readonly granted: Container
}

function listPairs(pod: Pod, allocated: Pod): readonly Pair[] {
  const containers = ({ spec }: Pod) => [...(spec.initContainers ?? []), ...spec.containers]
  const granted = new Map(containers(allocated).map((container) => [container.name, container]))
  return containers(pod).flatMap((wanted) => {
    const same = granted.get(wanted.name)
    return same === undefined ? [] : [{ wanted, granted: same }]
  })
}

function isSame(a: Container, b: Container, name: string): boolean {
  const [x, y] = [a.resources?.requests?.[name] ?? '0', b.resources?.requests?.[name] ?? '0']
  return compareQuantities(parseQuantity(x), parseQuantity(y)) === 0
}

function restartsForMemory({ resizePolicy = [] }: Container): boolean {
  return resizePolicy.find(({ resourceName }) => resourceName === 'memory')?.restartPolicy === 'RestartContainer'
}

function pinned(manager: string, policy: string): string {
  return `Resize is infeasible for Guaranteed Pods alongside ${manager} Manager policy "${policy}"`
}
