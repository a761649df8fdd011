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
  const { limit, count } = node.processes
  return new Map([
    ...computeMemoryObservations(
      node.memoryCapacityBytes,
      node.root.sample.memory,
      node.system.find(({ name }) => name === 'pods')?.cgroup.sample.memory,
    ),
    ...observeFileSystem('nodefs', node.fs),
    ...(node.imageFs === undefined ? [] : observeFileSystem('imagefs', node.imageFs)),
    ...observe('pid.available', { available: limit - count, capacity: limit, format: 'DecimalSI' }),
  ])
}

/** The part that is cheap enough to read often. */
export function computeMemoryObservations(
  capacityBytes: number,
  root: Pick<MemorySample, 'limitBytes' | 'workingSetBytes'> | undefined,
  pods: Pick<MemorySample, 'limitBytes' | 'workingSetBytes'> | undefined,
): Observations {
  const observeMemory = (signal: ObservedSignal, memory: typeof root) => {
    if (memory === undefined) return []
    const capacity = Math.min(capacityBytes, memory.limitBytes ?? capacityBytes)
    return observe(signal, { available: capacity - memory.workingSetBytes, capacity, format: 'BinarySI' })
  }
  return new Map([...observeMemory('memory.available', root), ...observeMemory('allocatableMemory.available', pods)])
}

function observeFileSystem(name: 'nodefs' | 'imagefs', fs: FileSystem) {
  return [
    ...observe(`${name}.available`, { available: fs.availableBytes, capacity: fs.capacityBytes, format: 'BinarySI' }),
    // Some file systems make inodes as they need them, and say that they have none.
    ...observe(`${name}.inodesFree`, { available: fs.inodesFree, capacity: fs.inodes, format: 'DecimalSI' }),
  ]
}

function observe(
  signal: ObservedSignal,
  { available, capacity, format }: { available: number; capacity: number; format: Quantity['format'] },
): readonly (readonly [ObservedSignal, Observation])[] {
  if (!Number.isFinite(available) || !Number.isFinite(capacity) || capacity <= 0) return []
  const left = toQuantity(Math.max(0, available), format)
  return [[signal, { available: left, capacity: toQuantity(capacity, format) }]]
}
