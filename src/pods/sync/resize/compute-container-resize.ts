import type { Container, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import type { ResizeDirection } from '../decide/pod-actions.ts'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../../model/resources/quantity.ts'

export type ResizedResource = 'cpu' | 'memory'

/** How a container that runs differs from what its pod was granted. */
export interface ContainerResize {
  /** Its policy wants a new start for what changes. */
  readonly restart: boolean
  readonly cpu: ResizeDirection | undefined
  readonly memory: ResizeDirection | undefined
}

type Resources = ResourceRequirements | undefined

/** What a container has of its own, and what it has of the whole pod where it has no limit of its own. */
export function effectiveResources(own: Resources, ofPod: Resources): ResourceRequirements {
  const inherited = (['cpu', 'memory'] as const).flatMap((name): readonly (readonly [string, string])[] => {
    const [mine, whole] = [own?.limits?.[name], ofPod?.limits?.[name]]
    return whole === undefined || !isNothing(mine) || isNothing(whole) ? [] : [[name, whole]]
  })
  if (inherited.length === 0) return own ?? {}
  return { ...own, limits: { ...own?.limits, ...Object.fromEntries(inherited) } }
}

/** Undefined for a container that has what it was granted, or of which it is unknown what it has. */
export function computeContainerResize(
  container: Container,
  podResources: Resources,
  actuated: PodAllocation | undefined,
): ContainerResize | undefined {
  const known = actuated?.containers.get(container.name)
  if (known === undefined) return undefined
  const wanted = effectiveResources(container.resources, podResources)
  const actual = effectiveResources(known, actuated?.pod)
  const [cpu, memory] = [direction('cpu', actual, wanted), direction('memory', actual, wanted)]
  if (cpu === undefined && memory === undefined) return undefined
  const changed = [...(cpu === undefined ? [] : ['cpu']), ...(memory === undefined ? [] : ['memory'])]
  const restart = (container.resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) => restartPolicy === 'RestartContainer' && changed.includes(resourceName),
  )
  return { restart, cpu, memory }
}

/** Does the pod as a whole have another size than it was granted? */
export function isPodResized(podResources: Resources, actuated: PodAllocation | undefined): boolean {
  if (podResources === undefined || actuated?.pod === undefined) return false
  return (['cpu', 'memory'] as const).some((name) => direction(name, actuated.pod, podResources) !== undefined)
}

/** A limit says more than a request, which counts when the limit stays. */
function direction(name: ResizedResource, before: Resources, after: Resources): ResizeDirection | undefined {
  // As a rule, at each pass over each pod: no need to know what it is worth.
  const isSame = (kind: 'limits' | 'requests') => before?.[kind]?.[name] === after?.[kind]?.[name]
  if (isSame('limits') && isSame('requests')) return undefined
  const [oldLimit, newLimit] = [amount(name, before?.limits), amount(name, after?.limits)]
  if (oldLimit !== newLimit) return newLimit === 0n || (oldLimit !== 0n && newLimit > oldLimit) ? 'grows' : 'shrinks'
  const [oldRequest, newRequest] = [amount(name, before?.requests), amount(name, after?.requests)]
  if (oldRequest === newRequest) return undefined
  return newRequest > oldRequest ? 'grows' : 'shrinks'
}

function amount(name: ResizedResource, amounts: Readonly<Record<string, string>> | undefined): bigint {
  const quantity = parseQuantity(amounts?.[name] ?? '0')
  return name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity)
}

function isNothing(text: string | undefined): boolean {
  return text === undefined || parseQuantity(text).nanos === 0n
}
