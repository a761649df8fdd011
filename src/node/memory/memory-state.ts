import type { PodUid } from '../../model/pod/pod.ts'
import type { NumaSet } from '../placement/hint-provider.ts'
import { WHOLE_POD } from '../placement/pod-level.ts'

/** What a NUMA node has of one kind of memory: "memory", or huge pages of a size. */
export interface MemorySize {
  readonly total: bigint
  readonly systemReserved: bigint
  /** What containers can have of it. */
  readonly allocatable: bigint
}

/** The static policy on this machine: each NUMA node with each kind of memory. */
export type MemoryPolicy = ReadonlyMap<number, ReadonlyMap<string, MemorySize>>

/** Memory of one kind from some nodes together. */
export interface MemoryBlock {
  readonly nodes: NumaSet
  readonly type: string
  readonly size: bigint
}

/** The memory of containers, by pod and by name. */
export type MemoryAssignmentTable = ReadonlyMap<PodUid, ReadonlyMap<string, readonly MemoryBlock[]>>

/** One kind of memory of a node as it is given away now. */
export interface MemoryUse extends MemorySize {
  readonly reserved: bigint
  readonly free: bigint
}

/** A NUMA node as it is given away now. */
export interface NodeMemory {
  /** The number of blocks that use it. */
  readonly assignments: number
  /** The nodes that are used together with it, and itself: they stay a group as long as a container has memory of them. */
  readonly group: NumaSet
  readonly kinds: ReadonlyMap<string, MemoryUse>
}

export type MachineMemory = ReadonlyMap<number, NodeMemory>

/** The memory of the machine with these assignments; blocks take from the lowest of their nodes first. */
export function toMachineMemory(policy: MemoryPolicy, assignments: MemoryAssignmentTable): MachineMemory {
  const machine = new Map<number, { assignments: number; group: NumaSet; kinds: Map<string, MemoryUse> }>()
  for (const [node, sizes] of policy) {
    const kinds = new Map([...sizes].map(([type, size]) => [type, { ...size, reserved: 0n, free: size.allocatable }]))
    machine.set(node, { assignments: 0, group: new Set([node]), kinds })
  }
  for (const { nodes, type, size } of listBlocks(assignments)) {
    let missing = size
    for (const id of [...nodes].sort((a, b) => a - b)) {
      const node = machine.get(id)
      const use = node?.kinds.get(type)
      if (node === undefined || use === undefined) continue
      const taken = use.free < missing ? use.free : missing
      missing -= taken
      node.assignments += 1
      node.group = nodes
      node.kinds.set(type, { ...use, reserved: use.reserved + taken, free: use.free - taken })
    }
  }
  return machine
}

/** Sorted, so that the same assignments always come out the same. Where a pod has memory as a whole, that is all its containers have. */
function listBlocks(assignments: MemoryAssignmentTable): readonly MemoryBlock[] {
  return sortEntries(assignments).flatMap(
    ([, containers]) => containers.get(WHOLE_POD) ?? sortEntries(containers).flatMap(([, blocks]) => blocks),
  )
}

export function sortEntries<T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
}

export function equalNodes(a: NumaSet, b: NumaSet): boolean {
  return a.size === b.size && a.isSubsetOf(b)
}

/** The table with what containers of a pod have now. */
export function withMemory(
  assignments: MemoryAssignmentTable,
  uid: PodUid,
  containers: ReadonlyMap<string, readonly MemoryBlock[]>,
): MemoryAssignmentTable {
  return new Map([...assignments, [uid, new Map([...(assignments.get(uid) ?? []), ...containers])] as const])
}

/** The table without a pod. */
export function withoutPodMemory(assignments: MemoryAssignmentTable, uid: PodUid): MemoryAssignmentTable {
  return new Map([...assignments].filter(([other]) => other !== uid))
}
