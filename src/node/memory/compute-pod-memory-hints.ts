import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { PlacementHint, PlacementHints } from '../placement/hint-provider.ts'
import { isPlacedWhole, WHOLE_POD } from '../placement/pod-level.ts'
import { listReusable } from './compute-memory-allocation.ts'
import type { MemorySituation } from './compute-memory-allocation.ts'
import { findEmptyMemoryPool } from './compute-whole-pod-memory.ts'
import { computeMemoryHints } from './compute-memory-hints.ts'
import { computeMemoryNeeds, computePodMemoryNeeds } from './compute-memory-needs.ts'
import type { MemoryNeeds } from './compute-memory-needs.ts'
import type { MemoryBlock } from './memory-state.ts'

/** Where a container can get its memory; a container that has memory gets a hint for just that. */
export function computeContainerMemoryHints(
  pod: Pod,
  container: Container,
  { machine, assignments, podLevel }: MemorySituation,
): PlacementHints {
  const needs = computeMemoryNeeds(pod, container, podLevel)
  const own = assignments.get(pod.metadata.uid)?.get(container.name)
  if (own !== undefined) return hintsOfOwn(own)
  return toHints(needs, computeMemoryHints(machine, needs, listReusable(pod, container, assignments)))
}

/** The same for all that containers of a pod have at one time; when one of them has its memory, the others have theirs there too. */
export function computePodMemoryHints(pod: Pod, { machine, assignments, podLevel }: MemorySituation): PlacementHints {
  const needs = computePodMemoryNeeds(pod, podLevel)
  if (isPlacedWhole(pod, podLevel) && findEmptyMemoryPool(pod, podLevel) !== undefined)
    return new Map([...needs.keys()].map((type) => [type, []]))
  const had = assignments.get(pod.metadata.uid)
  const own = had?.get(WHOLE_POD) ?? had?.values().next().value
  if (own !== undefined) return hintsOfOwn(own)
  return toHints(needs, computeMemoryHints(machine, needs, []))
}

/** The same nodes for each kind of memory. Where there are none nothing is hinted, and giving it says what is missing. */
function toHints(needs: MemoryNeeds, hints: readonly PlacementHint[]): PlacementHints {
  return hints.length === 0 ? new Map() : new Map([...needs.keys()].map((type) => [type, hints]))
}

function hintsOfOwn(blocks: readonly MemoryBlock[]): PlacementHints {
  return new Map(blocks.map(({ type, nodes }) => [type, [{ nodes, preferred: true }]]))
}
