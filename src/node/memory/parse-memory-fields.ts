import { isRecord } from '../../base/document/is-record.ts'

/** One kind of memory of a node, as the file has it. */
interface TableFields {
  readonly total: number
  readonly systemReserved: number
  readonly allocatable: number
  readonly reserved: number
  readonly free: number
}

/** A node, as the file has it. */
export interface NodeFields {
  readonly numberOfAssignments: number
  readonly memoryMap: ReadonlyMap<string, TableFields>
  readonly cells: readonly number[]
}

/** Memory of a container, as the file has it. */
export interface BlockFields {
  readonly numaAffinity: readonly number[]
  readonly type: string
  readonly size: number
}

/** The content of the file of memory assignments. */
export interface MemoryFields {
  readonly policyName: string
  /** By node. */
  readonly machineState: ReadonlyMap<string, NodeFields>
  /** By pod and container. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, readonly BlockFields[]>>
  /** What pods have as a whole. */
  readonly podEntries: ReadonlyMap<string, readonly BlockFields[]>
  readonly checksum: number
}

/** The text of the file to its fields; fails, with what was expected, on anything else. */
export function parseMemoryFields(text: string): MemoryFields {
  const fields = toMap(JSON.parse(text), 'an object')
  return {
    policyName: toText(fields.get('policyName'), 'policyName'),
    machineState: mapValues(toMap(fields.get('machineState'), 'machineState'), toNode),
    entries: mapValues(toMap(fields.get('entries') ?? {}, 'entries'), (containers) =>
      mapValues(toMap(containers, 'containers'), (blocks) => toList(blocks, 'blocks').map(toBlock)),
    ),
    podEntries: mapValues(toMap(fields.get('podEntries') ?? {}, 'podEntries'), (entry) =>
      toList(toMap(entry, 'podEntries').get('memoryBlocks') ?? [], 'memoryBlocks').map(toBlock),
    ),
    checksum: toWhole(fields.get('checksum'), 'checksum'),
  }
}

function toNode(value: unknown): NodeFields {
  const fields = toMap(value, 'a NUMA node')
  return {
    numberOfAssignments: toWhole(fields.get('numberOfAssignments'), 'numberOfAssignments'),
    memoryMap: mapValues(toMap(fields.get('memoryMap'), 'memoryMap'), toTable),
    cells: toList(fields.get('cells'), 'cells').map((id) => toWhole(id, 'cells')),
  }
}

function toTable(value: unknown): TableFields {
  const fields = toMap(value, 'sizes of memory')
  const size = (name: keyof TableFields) => toWhole(fields.get(name), name)
  return {
    total: size('total'),
    systemReserved: size('systemReserved'),
    allocatable: size('allocatable'),
    reserved: size('reserved'),
    free: size('free'),
  }
}

function toBlock(value: unknown): BlockFields {
  const fields = toMap(value, 'a block of memory')
  return {
    numaAffinity: toList(fields.get('numaAffinity'), 'numaAffinity').map((id) => toWhole(id, 'numaAffinity')),
    type: toText(fields.get('type'), 'type'),
    size: toWhole(fields.get('size'), 'size'),
  }
}

function toMap(value: unknown, what: string): ReadonlyMap<string, unknown> {
  if (isRecord(value)) return new Map(Object.entries(value))
  throw unexpected(what)
}

function toList(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unexpected(what)
}

function toText(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw unexpected(what)
}

/** Larger numbers would have lost precision already; no machine has so many bytes. */
function toWhole(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw unexpected(what)
}

function mapValues<T>(map: ReadonlyMap<string, unknown>, to: (value: unknown) => T): ReadonlyMap<string, T> {
  return new Map([...map].map(([name, value]) => [name, to(value)]))
}

function unexpected(what: string): Error {
  return new Error(`Cannot use the memory state: expected ${what}`)
}
