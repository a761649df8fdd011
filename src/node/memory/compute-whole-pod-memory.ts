import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { findEmptyPool } from '../placement/find-empty-pool.ts'
import type { EmptyPoolRejection } from '../placement/find-empty-pool.ts'
import type { NumaSet, PlacementAffinity } from '../placement/hint-provider.ts'
import { WHOLE_POD } from '../placement/pod-level.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import { chooseNodes, rejectMemory, toBlocks } from './compute-memory-allocation.ts'
import type { MemoryAllocation, MemorySituation } from './compute-memory-allocation.ts'
import { computeMemoryHints } from './compute-memory-hints.ts'
import { computeMemoryNeeds, computePodMemoryNeeds } from './compute-memory-needs.ts'
import type { MemoryNeeds } from './compute-memory-needs.ts'
import { withMemory } from './memory-state.ts'
import type { MemoryBlock } from './memory-state.ts'

/**
 * Gives a pod with resources of its own all its memory at once, from the same nodes for all its containers. Those that would be Guaranteed
 * alone have what they ask for to themselves, all others share what these leave of the pod's.
 */
export function computeWholePodMemory(
  pod: Pod,
  { machine, assignments, podLevel, affinity }: MemorySituation & { readonly affinity: PlacementAffinity },
): MemoryAllocation {
  const { uid } = pod.metadata
  const needs = computePodMemoryNeeds(pod, podLevel)
  if (needs.size === 0 || assignments.get(uid)?.has(WHOLE_POD) === true) return { kind: 'none' }
  const emptyPool = findEmptyMemoryPool(pod, podLevel)
  if (emptyPool !== undefined) return { kind: 'rejected', rejection: emptyPool }
  const nodes = chooseNodes(computeMemoryHints(machine, needs, []), affinity)
  if (nodes === undefined) return { kind: 'rejected', rejection: rejectMemory(needs, affinity) }
  const given = divide(pod, podLevel, { needs, nodes })
  return { kind: 'given', assignments: withMemory(assignments, uid, given), kinds: needs.size }
}

/** Why the pod has no memory for the containers that share it. */
export function findEmptyMemoryPool(pod: Pod, level: PodLevel): EmptyPoolRejection | undefined {
  return findEmptyPool(pod, computePodMemoryNeeds(pod, level), (container) => computeMemoryNeeds(pod, container, level))
}

/** Divides the memory of a pod. Init containers that end have what sidecars before them leave; after them all of it is there again. */
function divide(
  pod: Pod,
  level: PodLevel,
  { needs, nodes }: { readonly needs: MemoryNeeds; readonly nodes: NumaSet },
): ReadonlyMap<string, readonly MemoryBlock[]> {
  const { initContainers = [], containers } = pod.spec
  const shares = new Map([[WHOLE_POD, toBlocks(needs, nodes)]])
  let left = needs
  for (const container of [...initContainers, ...containers]) {
    const own = computeMemoryNeeds(pod, container, level)
    const endsEarly = initContainers.includes(container) && !isSidecar(container)
    if (own.size > 0 || endsEarly) shares.set(container.name, toBlocks(own.size > 0 ? own : left, nodes))
    if (!endsEarly) left = subtract(left, own)
  }
  const sharing = [...initContainers, ...containers].filter(({ name }) => !shares.has(name))
  return new Map([...shares, ...sharing.map(({ name }) => [name, toBlocks(left, nodes)] as const)])
}

/** What is left of each kind, without kinds of which nothing is. */
function subtract(from: MemoryNeeds, what: MemoryNeeds): MemoryNeeds {
  const rest = [...from].map(([type, size]) => [type, size - (what.get(type) ?? 0n)] as const)
  return new Map(rest.filter(([, size]) => size > 0n))
}
