import type { ResourceRequirements } from '../generated/core-v1.ts'
import { isSidecar } from '../pod/pod-containers.ts'
import type { Pod } from '../pod/pod.ts'
import { compareQuantities, parseQuantity } from './quantity.ts'
import type { Quantity } from './quantity.ts'

/** How much of each resource, by the resource's name. */
export type ResourceAmounts = ReadonlyMap<string, Quantity>

type Side = 'requests' | 'limits'

/** What a pod asks for: the most that can be in use at one time, or what the pod itself says; then its overhead. */
export function computePodRequests(pod: Pick<Pod, 'spec'>, options: { readonly overhead: boolean }): ResourceAmounts {
  const total = podTotal(pod, 'requests')
  return options.overhead ? add(total, parseAmounts(pod.spec.overhead)) : total
}

/** What a pod may use at most; overhead widens only the limits that are there. */
export function computePodLimits(pod: Pick<Pod, 'spec'>, options: { readonly overhead: boolean }): ResourceAmounts {
  const total = podTotal(pod, 'limits')
  if (!options.overhead) return total
  const limited = [...parseAmounts(pod.spec.overhead)].filter(([name]) => (total.get(name)?.nanos ?? 0n) > 0n)
  return add(total, new Map(limited))
}

/** Texts of a spec as amounts. */
export function parseAmounts(texts: Readonly<Record<string, string>> | undefined): ResourceAmounts {
  return new Map(Object.entries(texts ?? {}).map(([name, text]) => [name, parseQuantity(text)]))
}

function podTotal(pod: Pick<Pod, 'spec'>, side: Side): ResourceAmounts {
  const podLevel = [...parseAmounts(pod.spec.resources?.[side])].filter(([name]) => countsForWholePods(name))
  return new Map([...containersTotal(pod, side), ...podLevel])
}

/** Sidecars run beside everything that starts after them; an init container runs with the sidecars before it alone. */
function containersTotal(pod: Pick<Pod, 'spec'>, side: Side): ResourceAmounts {
  let together = sum(pod.spec.containers.map(({ resources }) => amountsOf(resources, side)))
  let sidecars: ResourceAmounts = new Map()
  let peak: ResourceAmounts = new Map()
  for (const container of pod.spec.initContainers ?? []) {
    const own = amountsOf(container.resources, side)
    peak = largest(peak, add(sidecars, own))
    if (isSidecar(container)) {
      sidecars = add(sidecars, own)
      together = add(together, own)
    }
  }
  return largest(together, peak)
}

function countsForWholePods(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}

function amountsOf(resources: ResourceRequirements | undefined, side: Side): ResourceAmounts {
  return parseAmounts(resources?.[side])
}

function sum(parts: readonly ResourceAmounts[]): ResourceAmounts {
  let total: ResourceAmounts = new Map()
  for (const part of parts) total = add(total, part)
  return total
}

function add(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return combine(a, b, (x, y) => ({ nanos: x.nanos + y.nanos, format: x.format }))
}

function largest(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return combine(a, b, (x, y) => (compareQuantities(x, y) < 0 ? y : x))
}

function combine(
  a: ResourceAmounts,
  b: ResourceAmounts,
  join: (x: Quantity, y: Quantity) => Quantity,
): ResourceAmounts {
  const result = new Map(a)
  for (const [name, amount] of b) {
    const other = result.get(name)
    result.set(name, other === undefined ? amount : join(other, amount))
  }
  return result
}
