import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { cpuShares } from '../../model/resources/cpu-shares-and-quota.ts'
import { hugepageSize } from '../../model/resources/hugepage-sizes.ts'
import { formatQuantity, quantityMilliValue, quantityValue } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'

/** What the node has and what of it is not for pods. */
export interface NodeAmounts {
  /** With "pid": how many processes there can be. */
  readonly capacity: ResourceAmounts
  readonly system: ResourceAmounts
  readonly kube: ResourceAmounts
  /** What eviction defends. */
  readonly eviction: ResourceAmounts
}

/** The values of a cgroup with these resources. A quota is never set, so that all cgroups can use free CPU time. */
export function computeAmountsCgroup(amounts: ResourceAmounts, options: { readonly cpuOnly: boolean }): CgroupValues {
  const cpu = amounts.get('cpu')
  const shares = cpu === undefined ? {} : { cpuShares: cpuShares(quantityMilliValue(cpu)) }
  if (options.cpuOnly) return shares
  const memory = amounts.get('memory')
  const pids = amounts.get('pid')
  return {
    ...shares,
    ...(memory === undefined ? {} : { memoryLimitBytes: quantityValue(memory) }),
    ...(pids === undefined ? {} : { pidsLimit: quantityValue(pids) }),
    hugepageLimits: new Map(
      [...amounts].flatMap(([name, amount]) => {
        const size = hugepageSize(name)
        return size === undefined ? [] : [[size, quantityValue(amount)] as const]
      }),
    ),
  }
}

/** What all pods together may have. Eviction steps in before they do, so what it defends is not taken off. */
export function computePodsAmounts({ capacity, system, kube }: NodeAmounts, enforced: boolean): ResourceAmounts {
  if (!enforced) return capacity
  return new Map([...capacity].map(([name, amount]) => [name, subtract(amount, [system.get(name), kube.get(name)])]))
}

/** The reservations that are larger than what there is, in words. */
export function computeReservationProblems({ capacity, system, kube, eviction }: NodeAmounts): readonly string[] {
  return [...capacity].flatMap(([name, amount]) => {
    const parts = Object.entries({ systemReserved: system, kubeReserved: kube, evictionHard: eviction }).flatMap(
      ([field, amounts]) => {
        const part = amounts.get(name)
        return part === undefined || part.nanos === 0n ? [] : [{ field, part }]
      },
    )
    const reserved = parts.reduce((sum, { part }) => sum + part.nanos, 0n)
    if (reserved <= amount.nanos) return []
    const shares = parts.map(({ field, part }) => `${field} ${formatQuantity(part)}`).join(' + ')
    return [`${name}: ${shares}, expected at most ${formatQuantity(amount)} in all`]
  })
}

function subtract(from: Quantity, parts: readonly (Quantity | undefined)[]): Quantity {
  const nanos = parts.reduce((left, part) => left - (part?.nanos ?? 0n), from.nanos)
  return { nanos: nanos < 0n ? 0n : nanos, format: from.format }
}
