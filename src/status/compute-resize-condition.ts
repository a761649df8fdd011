import type { Container, PodCondition, ResourceRequirements } from '../model/generated/core-v1.ts'
import { toAllocatedPod } from '../model/allocated-pod.ts'
import type { Allocations } from '../model/allocated-pod.ts'
import { newestInstance } from '../model/observed-pod.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import type { Pod } from '../model/pod.ts'
import { compareQuantities, parseQuantity } from '../model/quantity.ts'
import { toApiTime } from './status-input.ts'

export interface ResizeInput {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly allocated: Allocations
  readonly previous: readonly PodCondition[]
  readonly now: number
}

const TYPE = 'PodResizePending'
const REASON = 'Infeasible'
const RESIZABLE = ['cpu', 'memory'] as const

/** Says of a pod whose spec asks for other resources than its running containers have that this is not done in place. */
export function computeResizeCondition(input: ResizeInput): PodCondition | undefined {
  const names = findResized(input)
  if (names.length === 0) return undefined
  const old = input.previous.find(({ type, reason }) => type === TYPE && reason === REASON)
  const observedGeneration = old?.observedGeneration ?? input.pod.metadata.generation
  const now = toApiTime(input.now)
  return {
    type: TYPE,
    status: 'True',
    reason: REASON,
    message: `Resources are not changed in place: containers [${names.join(' ')}] get them when they start again`,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastProbeTime: old?.lastProbeTime ?? now,
    lastTransitionTime: old?.lastTransitionTime ?? now,
  }
}

function findResized({ pod, observed, allocated }: ResizeInput): readonly string[] {
  const given = listContainers(toAllocatedPod(pod, allocated))
  return listContainers(pod)
    .filter(({ resources }, index) => !isSame(resources, given[index]?.resources))
    .map(({ name }) => name)
    .filter((name) => newestInstance(observed, name)?.state === 'running')
}

function listContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers]
}

function isSame(a: ResourceRequirements | undefined, b: ResourceRequirements | undefined): boolean {
  return (['requests', 'limits'] as const).every((side) =>
    RESIZABLE.every((name) => {
      const [x, y] = [a?.[side]?.[name], b?.[side]?.[name]]
      return (
        x === y || (x !== undefined && y !== undefined && compareQuantities(parseQuantity(x), parseQuantity(y)) === 0)
      )
    }),
  )
}
