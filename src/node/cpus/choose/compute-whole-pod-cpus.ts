import type { CpuSet } from '../../../model/resources/cpu-set.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { findEmptyPool } from '../../placement/find-empty-pool.ts'
import type { EmptyPoolRejection } from '../../placement/find-empty-pool.ts'
import type { NumaSet } from '../../placement/hint-provider.ts'
import { WHOLE_POD } from '../../placement/pod-level.ts'
import { computeChosenCpus } from './compute-chosen-cpus.ts'
import { computeContainerCpus, toUsable, tooFew } from '../compute-container-cpus.ts'
import type { CpuSituation } from '../compute-container-cpus.ts'
import type { CpuAllocation } from './compute-cpu-allocation.ts'
import { computeExclusiveCount, computePodExclusiveCount } from './compute-exclusive-count.ts'
import type { CpuPolicy } from '../cpu-policy.ts'
import { toCpuState, withoutPod } from '../cpu-state.ts'

/** CPUs by container, and of the whole pod. */
type Shares = ReadonlyMap<string, CpuSet>

/** Where the CPUs of a pod should be. */
interface WholePodPlace {
  readonly nodes: NumaSet | undefined
  /** What the pod had when the agent found it running: it keeps that if it can. */
  readonly had: Shares
}

/**
 * Gives a pod with resources of its own all its CPUs at once. Containers that would be Guaranteed alone have those that they ask for to
 * themselves, all others share what these leave of the pod's.
 */
export function computeWholePodCpus(pod: Pod, situation: CpuSituation, { nodes, had }: WholePodPlace): CpuAllocation {
  const { policy, state, held } = situation
  const { uid } = pod.metadata
  const count = computePodExclusiveCount(pod, policy.options.podLevel)
  if (count === 0) return { kind: 'given', state, given: [] }
  const emptyPool = findEmptyCpuPool(pod, policy)
  if (emptyPool !== undefined) return { kind: 'rejected', rejection: emptyPool, given: [] }
  const others = withoutPod(state.assignments, uid)
  const free = toCpuState(policy, others).shared.difference(policy.reserved).difference(held)
  const kept = keepCpus(policy, { had, free, count })
  const usable = { count, free: toUsable(policy, free), reusable: new Set<number>() }
  const choice = kept === undefined ? computeContainerCpus(policy, usable, nodes) : { cpus: kept }
  if ('rejection' in choice) return { kind: 'rejected', rejection: choice.rejection, given: [] }
  const shares = divide(pod, policy, { cpus: choice.cpus, had })
  if (shares === undefined) return { kind: 'rejected', rejection: tooFew(count, choice.cpus), given: [] }
  return { kind: 'given', state: toCpuState(policy, new Map([...others, [uid, shares]])), given: [choice.cpus] }
}

/** Why the pod has no CPUs for the containers that share them. */
export function findEmptyCpuPool(pod: Pod, { options }: CpuPolicy): EmptyPoolRejection | undefined {
  const total = BigInt(computePodExclusiveCount(pod, options.podLevel))
  return findEmptyPool(pod, new Map([['cpu', total]]), (container) => {
    const count = computeExclusiveCount(pod, container, options.podLevel)
    return new Map(count === 0 ? [] : [['cpu', BigInt(count)]])
  })
}

/** What the pod had, made up to what it is to have; undefined when it had nothing or cannot have it again. */
function keepCpus(
  policy: CpuPolicy,
  { had, free, count }: { readonly had: Shares; readonly free: CpuSet; readonly count: number },
): CpuSet | undefined {
  const own = had.get(WHOLE_POD) ?? new Set([...had.values()].flatMap((cpus) => [...cpus]))
  if (own.size === 0 || own.size > count || !own.isSubsetOf(free)) return undefined
  const rest = computeChosenCpus(policy, {
    available: toUsable(policy, free.difference(own)),
    count: count - own.size,
  })
  return rest && own.union(rest)
}

/** Divides the CPUs of a pod. Init containers that end have what sidecars before them leave; after them all of it is there again. */
function divide(
  pod: Pod,
  policy: CpuPolicy,
  { cpus, had }: { readonly cpus: CpuSet; readonly had: Shares },
): Shares | undefined {
  const { initContainers = [], containers } = pod.spec
  const shares = new Map<string, CpuSet>([[WHOLE_POD, cpus]])
  let left = cpus
  for (const container of [...initContainers, ...containers]) {
    const count = computeExclusiveCount(pod, container, policy.options.podLevel)
    const endsEarly = initContainers.includes(container) && !isSidecar(container)
    const own = count === 0 ? left : takeFrom(policy, { left, count, had: had.get(container.name) })
    if (own === undefined) return undefined
    if (count > 0 || endsEarly) shares.set(container.name, own)
    if (count > 0 && !endsEarly) left = left.difference(own)
  }
  const sharing = [...initContainers, ...containers].filter(({ name }: Container) => !shares.has(name))
  return new Map([...shares, ...sharing.map(({ name }) => [name, left] as const)])
}

function takeFrom(
  policy: CpuPolicy,
  { left, count, had }: { readonly left: CpuSet; readonly count: number; readonly had: CpuSet | undefined },
): CpuSet | undefined {
  if (had?.size === count && had.isSubsetOf(left)) return had
  return computeChosenCpus(policy, { available: left, count })
}
