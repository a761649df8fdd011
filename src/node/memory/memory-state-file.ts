import { goJson } from '../../model/text/go-json.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { sortNodes } from '../placement/compute-numa-sets.ts'
import { WHOLE_POD } from '../placement/pod-level.ts'
import { computeMemoryChecksum } from './compute-memory-checksum.ts'
import type { RecordedMemory } from './compute-kept-memory.ts'
import { parseMemoryFields } from './parse-memory-fields.ts'
import type { BlockFields, NodeFields } from './parse-memory-fields.ts'
import { sortEntries } from './memory-state.ts'
import type { MachineMemory, MemoryAssignmentTable, MemoryBlock, MemorySize, NodeMemory } from './memory-state.ts'

/** The file in the root directory; the Go kubelet's own, so that either agent keeps what the other gave. */
export const MEMORY_STATE_FILE = 'memory_manager_state'

/** What is written to the file. */
export interface MemoryStateText {
  readonly policyName: string
  readonly machine: MachineMemory
  readonly assignments: MemoryAssignmentTable
  /** Only then does the file have room for what pods have as a whole. */
  readonly podLevel: boolean
}

/** The content of the file. */
export interface MemoryRecord extends RecordedMemory {
  readonly policyName: string
}

/** The text of the file, with the checksum that the Go kubelet demands. */
export function formatMemoryStateFile({ policyName, machine, assignments, podLevel }: MemoryStateText): string {
  const fields = {
    policyName,
    machineState: new Map([...machine].map(([id, node]) => [`${id}`, toNodeFields(node)])),
    entries: new Map(
      sortEntries(assignments).map(([uid, containers]) => [
        uid,
        new Map(
          sortEntries(containers)
            .filter(([name]) => name !== WHOLE_POD)
            .map(([name, blocks]) => [name, blocks.map(toBlockFields)]),
        ),
      ]),
    ),
    podEntries: podLevel ? toPodEntries(assignments) : undefined,
  }
  const nodes = sortEntries(fields.machineState).map(([id, node]) => {
    const memoryMap = Object.fromEntries(sortEntries(node.memoryMap))
    return `"${id}":${goJson({ numberOfAssignments: node.numberOfAssignments, memoryMap, cells: node.cells })}`
  })
  const pods = [...fields.entries].map(([uid, containers]) => [uid, Object.fromEntries(containers)] as const)
  const entries = pods.length === 0 ? '' : `"entries":${goJson(Object.fromEntries(pods))},`
  const whole = [...(fields.podEntries ?? [])].map(([uid, memoryBlocks]) => [uid, { memoryBlocks }] as const)
  const podEntries = whole.length === 0 ? '' : `"podEntries":${goJson(Object.fromEntries(whole))},`
  // Put together by hand: an object would have the nodes in the order of their numbers, and Go has them in that of their texts.
  return `{"policyName":"${policyName}","machineState":{${nodes.join(',')}},${entries}${podEntries}"checksum":${computeMemoryChecksum(fields)}}`
}

/** Parses the text of the file; fails when it is not complete. A checksum of 0 means none: the oldest kubelets wrote it so. */
export function parseMemoryStateFile(text: string): MemoryRecord {
  const fields = parseMemoryFields(text)
  const { podEntries, ...others } = fields
  const expected = computeMemoryChecksum(podEntries.size > 0 ? fields : others)
  const isKnown = fields.checksum === expected || fields.checksum === computeMemoryChecksum(fields)
  if (fields.checksum !== 0 && !isKnown)
    throw new Error(`Cannot use the memory state: its checksum is ${fields.checksum}, expected ${expected}`)
  const assignments = new Map<PodUid, ReadonlyMap<string, readonly MemoryBlock[]>>()
  for (const [uid, containers] of fields.entries) {
    if (!isPodUid(uid)) throw new Error(`Cannot use the memory state: expected the UID of a pod instead of "${uid}"`)
    const whole = podEntries.get(uid)
    const shares = [...(whole === undefined ? [] : [[WHOLE_POD, whole] as const]), ...containers]
    assignments.set(uid, new Map(shares.map(([name, blocks]) => [name, blocks.map(toBlock)])))
  }
  const sizes = new Map([...fields.machineState].map(([id, node]) => [Number(id), toSizes(node)]))
  return { policyName: fields.policyName, sizes, assignments }
}

function toPodEntries(assignments: MemoryAssignmentTable): ReadonlyMap<string, readonly BlockFields[]> {
  const whole = sortEntries(assignments).map(([uid, containers]) => [uid, containers.get(WHOLE_POD) ?? []] as const)
  return new Map(
    whole.filter(([, blocks]) => blocks.length > 0).map(([uid, blocks]) => [uid, blocks.map(toBlockFields)]),
  )
}

function toNodeFields({ assignments, group, kinds }: NodeMemory): NodeFields {
  const tables = [...kinds].map(([type, use]) => {
    const [total, systemReserved] = [Number(use.total), Number(use.systemReserved)]
    const [allocatable, reserved, free] = [Number(use.allocatable), Number(use.reserved), Number(use.free)]
    return [type, { total, systemReserved, allocatable, reserved, free }] as const
  })
  return { numberOfAssignments: assignments, memoryMap: new Map(tables), cells: sortNodes(group) }
}

function toBlockFields({ nodes, type, size }: MemoryBlock): BlockFields {
  return { numaAffinity: sortNodes(nodes), type, size: Number(size) }
}

function toBlock({ numaAffinity, type, size }: BlockFields): MemoryBlock {
  return { nodes: new Set(numaAffinity), type, size: BigInt(size) }
}

function toSizes({ memoryMap }: NodeFields): ReadonlyMap<string, MemorySize> {
  return new Map(
    [...memoryMap].map(([type, { total, systemReserved, allocatable }]) => [
      type,
      { total: BigInt(total), systemReserved: BigInt(systemReserved), allocatable: BigInt(allocatable) },
    ]),
  )
}
