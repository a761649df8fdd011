import { computeNumaSets } from '../placement/compute-numa-sets.ts'
import type { NumaSet, PlacementHint } from '../placement/hint-provider.ts'
import type { MemoryNeeds } from './compute-memory-needs.ts'
import { equalNodes } from './memory-state.ts'
import type { MachineMemory, MemoryBlock, MemoryUse } from './memory-state.ts'

/**
 * The NUMA nodes that have enough of everything together. Nodes that are in use as a group are offered only as that group, and nodes
 * that are in use alone only alone. Preferred are as few nodes as would do on an empty machine.
 */
export function computeMemoryHints(
  machine: MachineMemory,
  needs: MemoryNeeds,
  /** What containers of the pod have that never run at the same time. */
  reusable: readonly MemoryBlock[],
): readonly PlacementHint[] {
  const sets = computeNumaSets([...machine.keys()])
  const has = (nodes: NumaSet, what: (use: MemoryUse) => bigint, extra: (type: string) => bigint) =>
    [...needs].every(([type, size]) => sumOf(machine, nodes, type, what) + extra(type) >= size)
  const large = sets.filter((nodes) =>
    has(
      nodes,
      ({ allocatable }) => allocatable,
      () => 0n,
    ),
  )
  const least = large[0]?.size ?? machine.size
  return large
    .filter(
      (nodes) =>
        canJoin(machine, nodes) &&
        has(
          nodes,
          ({ free }) => free,
          (type) => sumReusable(reusable, nodes, type),
        ),
    )
    .map((nodes) => ({ nodes, preferred: nodes.size === least }))
}

/** The memory that a container can reuse on just these nodes. */
function sumReusable(blocks: readonly MemoryBlock[], nodes: NumaSet, type: string): bigint {
  return blocks
    .filter((block) => block.type === type && equalNodes(block.nodes, nodes))
    .reduce((sum, { size }) => sum + size, 0n)
}

function sumOf(machine: MachineMemory, nodes: NumaSet, type: string, what: (use: MemoryUse) => bigint): bigint {
  let sum = 0n
  for (const id of nodes) {
    const use = machine.get(id)?.kinds.get(type)
    if (use !== undefined) sum += what(use)
  }
  return sum
}

/** Are these nodes free to give together? */
export function canJoin(machine: MachineMemory, nodes: NumaSet): boolean {
  return [...nodes].every((id) => {
    const node = machine.get(id)
    return node !== undefined && (node.assignments === 0 || equalNodes(node.group, nodes))
  })
}
