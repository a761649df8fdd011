import type { NodeStatus } from '../../../model/generated/core-v1.ts'
import { isExtendedResource } from '../../../model/resources/is-extended-resource.ts'
import { compareQuantities, formatQuantity, parseQuantity } from '../../../model/resources/quantity.ts'
import type { Quantity } from '../../../model/resources/quantity.ts'
import type { MachineSize } from './node-info.ts'
import type { ResourceProfile } from './node-profile.ts'

type ResourceTexts = Readonly<Record<string, string>>

/** What the node has, and what of it pods may have. */
export interface NodeResources {
  readonly capacity: ResourceTexts
  readonly allocatable: ResourceTexts
}

const NANOS_PER_UNIT = 1_000_000_000n
const ZERO: Quantity = { nanos: 0n, format: 'DecimalSI' }

/** Adds what the machine has to what others have put into the status: resources that we do not know are theirs. */
export function computeNodeResources(
  status: Pick<NodeStatus, 'capacity' | 'allocatable'>,
  profile: ResourceProfile,
  size: MachineSize,
): NodeResources {
  const { devices } = size
  const capacity = new Map([
    ...parse(status.capacity),
    ...ownCapacity(profile, size),
    ...countDevices(devices?.capacity),
  ])
  const kept = [...parse(status.allocatable)].filter(([name]) => capacity.has(name) || !isExtendedResource(name))
  const allocatable = new Map([...kept, ...free(capacity, profile, size), ...countDevices(devices?.allocatable)])
  return { capacity: format(capacity, status.capacity), allocatable: format(allocatable, status.allocatable) }
}

function ownCapacity({ maxPods, podsPerCore, localStorage }: ResourceProfile, size: MachineSize) {
  const pods = podsPerCore > 0 ? Math.min(podsPerCore * size.cpus, maxPods) : maxPods
  const { storageBytes } = size
  return new Map<string, Quantity>([
    ['cpu', units(BigInt(size.cpus), 'DecimalSI')],
    ['memory', units(size.memoryBytes, 'BinarySI')],
    ['pods', units(BigInt(pods), 'DecimalSI')],
    ...(localStorage && storageBytes !== undefined
      ? [['ephemeral-storage', units(storageBytes, 'BinarySI')] as const]
      : []),
    ...size.hugepages.map(
      ({ sizeBytes, count }) =>
        [`hugepages-${formatQuantity(units(sizeBytes, 'BinarySI'))}`, units(sizeBytes * count, 'BinarySI')] as const,
    ),
  ])
}

function countDevices(counts: ReadonlyMap<string, number> = new Map()): readonly (readonly [string, Quantity])[] {
  return [...counts].map(([name, count]) => [name, units(BigInt(count), 'DecimalSI')])
}

/** Memory that is set aside as huge pages is not available as ordinary memory. */
function free(capacity: ReadonlyMap<string, Quantity>, profile: ResourceProfile, size: MachineSize) {
  const reserved = [...profile.reserved.map(parse), computeEvictionReserve(profile, size)]
  const hugepages = [...capacity].filter(([name]) => name.startsWith('hugepages-')).map(([, amount]) => amount)
  return [...capacity].map(([name, amount]): readonly [string, Quantity] => {
    const taken = [...reserved.map((part) => part.get(name) ?? ZERO), ...(name === 'memory' ? hugepages : [])]
    const nanos = taken.reduce((left, part) => left - part.nanos, amount.nanos)
    return [name, { nanos: nanos < 0n ? 0n : nanos, format: amount.format }]
  })
}

/** What eviction would defend is never free. */
export function computeEvictionReserve(
  { evictionHard }: Pick<ResourceProfile, 'evictionHard'>,
  size: Pick<MachineSize, 'memoryBytes' | 'storageBytes'>,
): ReadonlyMap<string, Quantity> {
  const reserve = (signal: string, whole: bigint) => {
    const threshold = evictionHard[signal]
    return threshold === undefined ? ZERO : parseThreshold(threshold, whole)
  }
  return new Map([
    ['memory', reserve('memory.available', size.memoryBytes)],
    ['ephemeral-storage', reserve('nodefs.available', size.storageBytes ?? 0n)],
  ])
}

/** Percentages are single precision in the Go kubelet, and show in the last digits of what is left. 0% and 100% are no thresholds. */
function parseThreshold(text: string, whole: bigint): Quantity {
  if (!text.endsWith('%')) return parseQuantity(text)
  const percent = Number(text.slice(0, -1))
  if (percent === 0 || percent === 100) return ZERO
  const part = Math.fround(Math.fround(percent) / 100)
  return units(BigInt(Math.trunc(Number(whole) * part)), 'BinarySI')
}

function units(count: bigint, format: Quantity['format']): Quantity {
  return { nanos: count * NANOS_PER_UNIT, format }
}

function parse(texts: ResourceTexts | undefined): ReadonlyMap<string, Quantity> {
  return new Map(Object.entries(texts ?? {}).map(([name, text]) => [name, parseQuantity(text)]))
}

/** An amount that has not changed keeps its spelling, so that it is no change of the status. */
function format(amounts: ReadonlyMap<string, Quantity>, before: ResourceTexts | undefined): ResourceTexts {
  const old = new Map(Object.entries(before ?? {}))
  return Object.fromEntries(
    [...amounts].map(([name, amount]) => {
      const text = old.get(name)
      const same = text !== undefined && compareQuantities(parseQuantity(text), amount) === 0
      return [name, same ? text : formatQuantity(amount)]
    }),
  )
}

/** The resources without which a node cannot be ready, that it does not have. */
export function computeMissingCapacity(capacity: ResourceTexts, { localStorage }: ResourceProfile): readonly string[] {
  return ['cpu', 'memory', 'pods', ...(localStorage ? ['ephemeral-storage'] : [])].filter(
    (name) => capacity[name] === undefined,
  )
}
