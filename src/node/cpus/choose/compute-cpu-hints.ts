import type { CpuSet } from '../../../model/resources/cpu-set.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeNumaSets } from '../../placement/compute-numa-sets.ts'
import type { NumaSet, PlacementHint, PlacementHints } from '../../placement/hint-provider.ts'
import { isPlacedWhole } from '../../placement/pod-level.ts'
import { computeUsableCpus, toUsable } from '../compute-container-cpus.ts'
import type { CpuSituation, UsableCpus } from '../compute-container-cpus.ts'
import { computePodExclusiveCount } from './compute-exclusive-count.ts'
import { findEmptyCpuPool } from './compute-whole-pod-cpus.ts'
import type { CpuPolicy } from '../cpu-policy.ts'
import { allCpus, groupCpus } from '../cpu-topology.ts'

/** Where a container can get its CPUs; a container that has CPUs gets a hint for just those. */
export function computeContainerCpuHints(pod: Pod, container: Container, situation: CpuSituation): PlacementHints {
  const usable = computeUsableCpus(pod, container, situation)
  const own = situation.state.assignments.get(pod.metadata.uid)?.get(container.name)
  if (usable.count === 0) return new Map()
  if (own === undefined) return new Map([['cpu', computeCpuHints(situation.policy, usable)]])
  return new Map([['cpu', hintsOfOwn(situation.policy, usable.count, own)]])
}

/** The same for all CPUs that containers of a pod have for themselves at one time. */
export function computePodCpuHints(pod: Pod, { policy, state, held }: CpuSituation): PlacementHints {
  const { podLevel } = policy.options
  const count = computePodExclusiveCount(pod, podLevel)
  if (count === 0) return new Map()
  if (isPlacedWhole(pod, podLevel) && findEmptyCpuPool(pod, policy) !== undefined) return new Map([['cpu', []]])
  const own = new Set([...(state.assignments.get(pod.metadata.uid)?.values() ?? [])].flatMap((cpus) => [...cpus]))
  if (own.size >= count) return new Map([['cpu', hintsOfOwn(policy, count, own)]])
  const free = state.shared.difference(policy.reserved).difference(held)
  return new Map([['cpu', computeCpuHints(policy, { count, free: toUsable(policy, free), reusable: own })]])
}

function hintsOfOwn(policy: CpuPolicy, count: number, own: CpuSet): readonly PlacementHint[] {
  return own.size === count ? computeCpuHints(policy, { count, free: own, reusable: new Set() }) : []
}

/**
 * The NUMA nodes with enough CPUs for a container. It reuses CPUs of other containers of its pod where it can, so nodes without those
 * are no place for it. Preferred are as few nodes as would do on an empty machine, or all that lie in as few sockets.
 */
function computeCpuHints(policy: CpuPolicy, { count, free, reusable }: UsableCpus): readonly PlacementHint[] {
  const nodes = groupCpus(policy.topology, 'numaNode')
  const counted = (cpus: CpuSet) => new Map([...nodes].map(([node, all]) => [node, all.intersection(cpus).size]))
  const [size, room, taken] = [counted(allCpus(policy.topology)), counted(free.union(reusable)), counted(reusable)]
  const sum = (amounts: ReadonlyMap<number, number>, set: NumaSet) =>
    [...set].reduce((total, node) => total + (amounts.get(node) ?? 0), 0)
  const sets = computeNumaSets([...nodes.keys()])
  const least = sets.find((set) => sum(size, set) >= count)?.size ?? nodes.size
  return sets
    .filter((set) => sum(room, set) >= count && sum(taken, set) === reusable.size)
    .map((set) => ({ nodes: set, preferred: set.size === least || isInFewestSockets(policy, set, least) }))
}

function isInFewestSockets({ topology, options }: CpuPolicy, nodes: NumaSet, least: number): boolean {
  if (!options.alignBySocket) return false
  const nodesPerSocket = Math.floor(groupCpus(topology, 'numaNode').size / groupCpus(topology, 'socket').size)
  if (nodesPerSocket === 0) return false
  const sockets = new Set(topology.filter(({ numaNode }) => nodes.has(numaNode)).map(({ socket }) => socket))
  return sockets.size === Math.ceil(least / nodesPerSocket)
}
