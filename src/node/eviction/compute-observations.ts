import type { Quantity } from '../../model/resources/quantity.ts'
import type { MemorySample } from '../stats/sampling/cgroup-sample.ts'
import type { NodeUsage } from '../stats/stats-snapshot.ts'
import type { ObservedSignal } from './observed-signal.ts'

/** How much there is of a resource, and how much of it is left. */
export interface Observation {
  readonly available: Quantity
  readonly capacity: Quantity
}

export type Observations = ReadonlyMap<ObservedSignal, Observation>

type FileSystem = Pick<NodeUsage['fs'], 'availableBytes' | 'capacityBytes' | 'inodesFree' | 'inodes'>

const NANOS_PER_UNIT = 1_000_000_000n

export function toQuantity(count: number, format: Quantity['format']): Quantity {
  return { nanos: BigInt(Math.trunc(count)) * NANOS_PER_UNIT, format }
}

/** What a snapshot says of each signal. Signals that are not known or not counted are left out: nothing follows from them. */
export function computeObservations(
  node: Pick<NodeUsage, 'memoryCapacityBytes' | 'root' | 'system' | 'fs' | 'imageFs' | 'processes'>,
): Observations {
  const pods = node.system.find(({ name }) => name === 'pods')
  const { limit, count } = node.processes
  // The compiler asks for a line for each signal.
  const readings: Readonly<Record<ObservedSignal, Reading | undefined>> = {
    ...readMemory(node.memoryCapacityBytes, node.root.sample.memory, pods?.cgroup.sample.memory),
    'nodefs.available': readSpace(node.fs),
    'nodefs.inodesFree': readInodes(node.fs),
    'imagefs.available': node.imageFs && readSpace(node.imageFs),
    'imagefs.inodesFree': node.imageFs && readInodes(node.imageFs),
    'pid.available': { available: limit - count, capacity: limit, format: 'DecimalSI' },
  }
  return toObservations(readings)
}

/** The part that is cheap enough to read often. */
export function computeMemoryObservations(
  capacityBytes: number,
  root: WorkingMemory | undefined,
  pods: WorkingMemory | undefined,
): Observations {
  return toObservations(readMemory(capacityBytes, root, pods))
}

type WorkingMemory = Pick<MemorySample, 'limitBytes' | 'workingSetBytes'>

/** Numbers as they were read; what is not counted is not finite. */
interface Reading {
  readonly available: number
  readonly capacity: number
  readonly format: Quantity['format']
}

function readMemory(capacityBytes: number, root: WorkingMemory | undefined, pods: WorkingMemory | undefined) {
  const read = (memory: WorkingMemory | undefined): Reading | undefined => {
    if (memory === undefined) return undefined
    const capacity = Math.min(capacityBytes, memory.limitBytes ?? capacityBytes)
    return { available: capacity - memory.workingSetBytes, capacity, format: 'BinarySI' }
  }
  return { 'memory.available': read(root), 'allocatableMemory.available': read(pods) }
}

function readSpace({ availableBytes, capacityBytes }: FileSystem): Reading {
  return { available: availableBytes, capacity: capacityBytes, format: 'BinarySI' }
}

/** Some file systems make inodes as they need them, and say that they have none. */
function readInodes({ inodesFree, inodes }: FileSystem): Reading {
  return { available: inodesFree, capacity: inodes, format: 'DecimalSI' }
}

function toObservations(readings: Readonly<Partial<Record<ObservedSignal, Reading | undefined>>>): Observations {
  const observations = new Map<ObservedSignal, Observation>()
  for (const [signal, reading] of Object.entries(readings)) {
    if (reading === undefined) continue
    const { available, capacity, format } = reading
    if (!Number.isFinite(available) || !Number.isFinite(capacity) || capacity <= 0) continue
    const left = toQuantity(Math.max(0, available), format)
    observations.set(signal as ObservedSignal, { available: left, capacity: toQuantity(capacity, format) })
  }
  return observations
}
