import type { Container } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { NumaSet, PlacementAffinity, PlacementHint, PlacementRejection } from '../placement/hint-provider.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import { computeMemoryHints } from './compute-memory-hints.ts'
import { computeMemoryNeeds } from './compute-memory-needs.ts'
import type { MemoryNeeds } from './compute-memory-needs.ts'
import { equalNodes, sortEntries, withMemory } from './memory-state.ts'
import type { MachineMemory, MemoryAssignmentTable, MemoryBlock } from './memory-state.ts'

/** The memory of the machine, and the assignments that it results from. */
export interface MemorySituation {
  readonly machine: MachineMemory
  readonly assignments: MemoryAssignmentTable
  /** What pods with resources of their own get. */
  readonly podLevel: PodLevel
}

/** What a container gets, or a pod as a whole. */
export type MemoryAllocation =
  | { readonly kind: 'none' }
  | { readonly kind: 'given'; readonly assignments: MemoryAssignmentTable; readonly kinds: number }
  | { readonly kind: 'rejected'; readonly rejection: PlacementRejection }

/** What earlier init containers of the pod have: they have ended when this container runs. */
export function listReusable(
  pod: Pod,
  container: Container,
  assignments: MemoryAssignmentTable,
): readonly MemoryBlock[] {
  const own = assignments.get(pod.metadata.uid)
  return listEarlierInits(pod, container).flatMap(({ name }) => own?.get(name) ?? [])
}

/** Those that end before the container starts; sidecars run beside it. */
function listEarlierInits({ spec }: Pod, { name }: Container): readonly Container[] {
  const inits = spec.initContainers ?? []
  const own = inits.findIndex((init) => init.name === name)
  return (own < 0 ? inits : inits.slice(0, own)).filter((init) => !isSidecar(init))
}

/**
 * Allocates a container's memory from the nodes of its affinity. Where they do not have enough, or belong to another group of nodes,
 * it comes from the fewest nodes that do and include them.
 */
export function computeMemoryAllocation(
  pod: Pod,
  container: Container,
  { machine, assignments, podLevel, affinity }: MemorySituation & { readonly affinity: PlacementAffinity },
): MemoryAllocation {
  const { uid } = pod.metadata
  const needs = computeMemoryNeeds(pod, container, podLevel)
  if (needs.size === 0 || assignments.get(uid)?.has(container.name) === true) return { kind: 'none' }
  const hints = computeMemoryHints(machine, needs, listReusable(pod, container, assignments))
  const chosen = chooseNodes(hints, affinity)
  if (chosen === undefined) return { kind: 'rejected', rejection: rejectMemory(needs, affinity) }
  const blocks = toBlocks(needs, chosen)
  const given = new Map([...takeOver(pod, container, { assignments, blocks }), [container.name, blocks] as const])
  return { kind: 'given', assignments: withMemory(assignments, uid, given), kinds: needs.size }
}

/** The nodes that have enough: those of the affinity, or the fewest that include them. Undefined when there are none that are as good. */
export function chooseNodes(hints: readonly PlacementHint[], affinity: PlacementAffinity): NumaSet | undefined {
  const chosen = findBest(hints.filter(({ nodes }) => affinity.nodes?.isSubsetOf(nodes) ?? true))
  return affinity.preferred && chosen?.preferred !== true ? undefined : chosen?.nodes
}

/** One block of each kind of memory, in the order of their names. */
export function toBlocks(needs: MemoryNeeds, nodes: NumaSet): readonly MemoryBlock[] {
  return sortEntries(needs).map(([type, size]) => ({ nodes, type, size }))
}

/** Preferred before others, then fewer nodes, then the first. */
function findBest(hints: readonly PlacementHint[]): PlacementHint | undefined {
  const rank = ({ nodes, preferred }: PlacementHint) => (preferred ? 0 : nodes.size)
  return hints.toSorted((a, b) => rank(a) - rank(b))[0]
}

/** The earlier init containers without the memory that this one reuses, so that nothing is counted twice. */
function takeOver(
  pod: Pod,
  container: Container,
  { assignments, blocks }: { readonly assignments: MemoryAssignmentTable; readonly blocks: readonly MemoryBlock[] },
): ReadonlyMap<string, readonly MemoryBlock[]> {
  const wanted = new Map(blocks.map(({ type, size }) => [type, size]))
  const shrink = (block: MemoryBlock): MemoryBlock => {
    const missing = wanted.get(block.type) ?? 0n
    if (!blocks.some(({ nodes }) => equalNodes(nodes, block.nodes))) return block
    const taken = block.size < missing ? block.size : missing
    wanted.set(block.type, missing - taken)
    return { ...block, size: block.size - taken }
  }
  const own = assignments.get(pod.metadata.uid)
  return new Map(
    listEarlierInits(pod, container).flatMap(({ name }) => {
      const had = own?.get(name)
      return had === undefined ? [] : [[name, had.map(shrink)] as const]
    }),
  )
}

export function rejectMemory(needs: MemoryNeeds, { nodes }: PlacementAffinity): PlacementRejection {
  const amounts = [...needs].map(([type, size]) => `${type}=${size}`).join(', ')
  const place = nodes === undefined ? '' : ` together with ${[...nodes].join(',')}`
  const why = `no NUMA nodes with enough memory${place}: requested ${amounts}`
  return { reason: 'UnexpectedAdmissionError', message: `Allocate failed due to ${why}, which is unexpected` }
}
