import type { ResourceRequirements } from '../generated/core-v1.ts'
import type { PodAllocation } from './pod-allocation.ts'
import { compareQuantities, parseQuantity } from './quantity.ts'

type Requirements = ResourceRequirements | undefined

const SIDES = ['requests', 'limits'] as const
/** The resources of which a running container can get more or less. */
export const RESIZABLE = ['cpu', 'memory'] as const

/** Do both ask for the same, however the amounts are written? */
export function sameResources(a: Requirements, b: Requirements): boolean {
  const same = SIDES.every((side) => {
    const names = new Set([...Object.keys(a?.[side] ?? {}), ...Object.keys(b?.[side] ?? {})])
    return [...names].every((name) => sameAmount(a?.[side]?.[name], b?.[side]?.[name]))
  })
  return same && JSON.stringify(a?.claims ?? []) === JSON.stringify(b?.claims ?? [])
}

/** The same for what can be resized alone. */
export function sameCpuAndMemory(a: Requirements, b: Requirements): boolean {
  return SIDES.every((side) => RESIZABLE.every((name) => sameAmount(a?.[side]?.[name], b?.[side]?.[name])))
}

/** Do both give the same to the pod and to each of its containers? */
export function sameAllocation(a: PodAllocation, b: PodAllocation): boolean {
  if (a.containers.size !== b.containers.size || !sameResources(a.pod, b.pod)) return false
  return [...a.containers].every(
    ([name, resources]) => b.containers.has(name) && sameResources(resources, b.containers.get(name)),
  )
}

/** Nothing is as good as none at all. */
function sameAmount(a: string | undefined, b: string | undefined): boolean {
  return a === b || compareQuantities(parseQuantity(a ?? '0'), parseQuantity(b ?? '0')) === 0
}
