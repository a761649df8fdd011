import type { LeftoverRule } from '../decide/compute-leftovers.ts'
import type { PodHistory } from '../pod-history.ts'
import type { PodRuntime } from '../pod-runtime.ts'

/** What holds now for the dead containers of a pod. */
export function toLeftoverRule({ node, clock }: PodRuntime, { surplus }: PodHistory): LeftoverRule {
  return { kept: node.deadInstancesKept, createdBefore: clock.now() - node.deadContainerLeastMs, surplus }
}
