import type { PodUid } from '../../model/pod/pod.ts'
import type { NumaSet } from '../placement/hint-provider.ts'
import { WHOLE_POD } from '../placement/pod-level.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import { canJoin } from './compute-memory-hints.ts'
import { toMachineMemory, withMemory } from './memory-state.ts'
import type { MachineMemory, MemoryAssignmentTable, MemoryBlock, MemoryPolicy, MemorySize } from './memory-state.ts'

/** What was recorded: assignments, and the machine for which they were made. */
export interface RecordedMemory {
  readonly sizes: MemoryPolicy
  readonly assignments: MemoryAssignmentTable
}

/** What can go on as it was recorded, and what cannot. */
export interface KeptMemory {
  readonly assignments: MemoryAssignmentTable
  /** Why the record does not fit this machine and its configuration; undefined when it does. */
  readonly problem: string | undefined
  readonly dropped: readonly { readonly uid: PodUid; readonly container: string }[]
}

/** Keeps of a record what the machine still has for it, next to all that is kept already. */
export function computeKeptMemory(recorded: RecordedMemory, policy: MemoryPolicy, level: PodLevel): KeptMemory {
  const dropped: KeptMemory['dropped'][number][] = []
  let assignments: MemoryAssignmentTable = new Map()
  for (const [uid, containers] of recorded.assignments) {
    const whole = containers.get(WHOLE_POD)
    if (whole !== undefined) {
      // What a pod had as a whole it keeps as a whole, or not at all.
      const machine = toMachineMemory(policy, assignments)
      if (level === 'pod' && whole.every((block) => fits(machine, block)))
        assignments = withMemory(assignments, uid, containers)
      else dropped.push(...[...containers.keys()].map((container) => ({ uid, container })))
      continue
    }
    for (const [container, blocks] of containers) {
      const machine = toMachineMemory(policy, assignments)
      if (blocks.every((block) => fits(machine, block)))
        assignments = withMemory(assignments, uid, new Map([[container, blocks]]))
      else dropped.push({ uid, container })
    }
  }
  return { assignments, problem: describeProblem(recorded, policy, dropped.length > 0), dropped }
}

function fits(machine: MachineMemory, { nodes, type, size }: MemoryBlock): boolean {
  const kinds = [...nodes].map((id) => machine.get(id)?.kinds.get(type))
  const free = kinds.reduce((sum, use) => sum + (use?.free ?? 0n), 0n)
  return nodes.size > 0 && kinds.every((use) => use !== undefined) && free >= size && canJoin(machine, nodes)
}

/** A record that nothing was written to yet fits everywhere. */
function describeProblem({ sizes, assignments }: RecordedMemory, policy: MemoryPolicy, hasDropped: boolean) {
  if (sizes.size === 0 && assignments.size === 0) return undefined
  if (hasDropped) return 'some memory is not there any more, is reserved now, or was given away twice'
  return showSizes(sizes) === showSizes(policy) ? undefined : 'the machine or what is reserved of it has changed'
}

function showSizes(policy: MemoryPolicy): string {
  const showSize = ([type, { total, systemReserved, allocatable }]: readonly [string, MemorySize]) =>
    `${type} ${total} ${systemReserved} ${allocatable}`
  const lines = [...policy].map(([node, kinds]) => `${node}: ${[...kinds].map(showSize).sort().join(', ')}`)
  return lines.sort().join('\n')
}

/** The nodes of all memory that a container has. */
export function nodesOf(blocks: readonly MemoryBlock[]): NumaSet {
  return new Set(blocks.flatMap(({ nodes }) => [...nodes]).sort((a, b) => a - b))
}
