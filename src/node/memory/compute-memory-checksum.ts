import { fnv1a32 } from '../../model/text/fnv1a32.ts'
import { sortEntries } from './memory-state.ts'
import type { BlockFields, MemoryFields, NodeFields } from './parse-memory-fields.ts'

type ChecksumFields = Pick<MemoryFields, 'policyName' | 'machineState' | 'entries'> &
  // Only files with pod level have them.
  { readonly podEntries?: MemoryFields['podEntries'] | undefined }

/** Computed from the text that Go prints for the fields, in the order of the file. */
export function computeMemoryChecksum(fields: ChecksumFields): number {
  const { policyName, machineState, entries, podEntries } = fields
  const nodes = [...machineState]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([id, node]) => `${id}:<*>${showNode(node)}`)
  const pods = sortEntries(entries).map(([uid, containers]) => {
    const blocks = sortEntries(containers).map(([name, list]) => `${name}:[${list.map(showBlock).join(' ')}]`)
    return `${uid}:map[${blocks.join(' ')}]`
  })
  const texts = [
    `PolicyName:(string)${policyName}`,
    `MachineState:(state.NUMANodeMap)map[${nodes.join(' ')}]`,
    `Entries:(state.ContainerMemoryAssignments)map[${pods.join(' ')}]`,
    ...(podEntries === undefined ? [] : [`PodEntries:(state.PodMemoryAssignments)map[${showPods(podEntries)}]`]),
    'Checksum:(checksum.Checksum)0',
  ]
  return fnv1a32(`(*state.MemoryManagerCheckpoint){${texts.join(' ')}}`)
}

function showNode({ numberOfAssignments, memoryMap, cells }: NodeFields): string {
  const tables = sortEntries(memoryMap).map(([type, table]) => {
    const { total, systemReserved, allocatable, reserved, free } = table
    const sizes = {
      TotalMemSize: total,
      SystemReserved: systemReserved,
      Allocatable: allocatable,
      Reserved: reserved,
      Free: free,
    }
    return `${type}:<*>{${Object.entries(sizes)
      .map(([name, size]) => `${name}:(uint64)${size}`)
      .join(' ')}}`
  })
  const fields = [
    `NumberOfAssignments:(int)${numberOfAssignments}`,
    `MemoryMap:(map[v1.ResourceName]*state.MemoryTable)map[${tables.join(' ')}]`,
    `Cells:([]int)[${cells.join(' ')}]`,
  ]
  return `{${fields.join(' ')}}`
}

function showPods(podEntries: MemoryFields['podEntries']): string {
  return sortEntries(podEntries)
    .map(([uid, blocks]) => `${uid}:{MemoryBlocks:([]state.Block)[${blocks.map(showBlock).join(' ')}]}`)
    .join(' ')
}

function showBlock({ numaAffinity, type, size }: BlockFields): string {
  return `{NUMAAffinity:([]int)[${numaAffinity.join(' ')}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`
}
