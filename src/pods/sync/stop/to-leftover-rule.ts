import type { LeftoverRule } from '../decide/compute-leftovers.ts'
import type { PodMemory } from '../pod-memory.ts'
import type { PodRuntime } from '../pod-runtime.ts'

/** What holds now for the dead containers of a pod. */
export function toLeftoverRule({ node, clock }: PodRuntime, { surplus }: PodMemory): LeftoverRule {
  return { kept: node.deadInstancesKept, createdBefore: clock.now() - node.deadContainerLeastMs, surplus }
}
