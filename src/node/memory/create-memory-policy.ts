import { formatQuantity, parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import type { MemoryPolicy, MemorySize } from './memory-state.ts'

/** A NUMA node with what it has. */
interface NodeMemorySize {
  readonly id: number
  readonly memoryBytes: bigint
  readonly hugepages: readonly { readonly sizeBytes: bigint; readonly count: bigint }[]
}

/** What is kept from pods on one NUMA node, as it is configured. */
interface MemoryReservation {
  readonly numaNode: number
  readonly limits: Readonly<Record<string, string>>
}

export interface MemoryPolicyInput {
  readonly nodes: readonly NodeMemorySize[]
  readonly reservedMemory: readonly MemoryReservation[]
  /** What is kept from pods on the whole machine, by kind of memory. */
  readonly reserved: ReadonlyMap<string, bigint>
}

const NANOS_PER_UNIT = 1_000_000_000n

/** The static policy on this machine; fails when what is reserved on its nodes is not just what is reserved of the whole. */
export function createMemoryPolicy({ nodes, reservedMemory, reserved }: MemoryPolicyInput): MemoryPolicy {
  const reservations = toReservations(reservedMemory, nodes)
  checkSums(reservations, reserved)
  return new Map(
    nodes.map(({ id, memoryBytes, hugepages }) => {
      const keep = (type: string) => reservations.find((r) => r.node === id && r.type === type)?.size ?? 0n
      const pages = hugepages.map(({ sizeBytes, count }) => [hugepageName(sizeBytes), sizeBytes * count] as const)
      const inPages = pages.reduce((sum, [, total]) => sum + total, 0n)
      const kinds = [
        ...pages.map(([type, total]) => [type, toSize(total, keep(type), 0n)] as const),
        ['memory', toSize(memoryBytes, keep('memory'), inPages)] as const,
      ]
      for (const [type, { allocatable, systemReserved }] of kinds)
        if (allocatable < 0n) throw tooMuch({ node: id, type, size: systemReserved })
      return [id, new Map(kinds)] as const
    }),
  )
}

interface Reservation {
  readonly node: number
  readonly type: string
  readonly size: bigint
}

function toReservations(
  reservedMemory: readonly MemoryReservation[],
  nodes: readonly NodeMemorySize[],
): readonly Reservation[] {
  const ids = nodes.map(({ id }) => id)
  return reservedMemory.flatMap(({ numaNode, limits }) => {
    if (!ids.includes(numaNode))
      throw new Error(`Cannot reserve memory on NUMA node ${numaNode}: expected one of this machine: ${ids.join(',')}`)
    return Object.entries(limits).map(([type, text]) => {
      return { node: numaNode, type, size: quantityValue(parseQuantity(text)) }
    })
  })
}

function checkSums(reservations: readonly Reservation[], reserved: ReadonlyMap<string, bigint>): void {
  for (const type of new Set([...reserved.keys(), ...reservations.map((reservation) => reservation.type), 'memory'])) {
    const sum = reservations.filter((r) => r.type === type).reduce((total, { size }) => total + size, 0n)
    const expected = reserved.get(type) ?? 0n
    if (sum !== expected)
      throw new Error(
        `Cannot use the memory policy "Static": reservedMemory has ${show(sum)} of ${type}, expected ${show(expected)}, which is what systemReserved, kubeReserved and evictionHard keep together`,
      )
  }
  if ((reserved.get('memory') ?? 0n) === 0n)
    throw new Error(
      'Cannot use the memory policy "Static": expected memory to be reserved, by systemReserved, kubeReserved or evictionHard',
    )
}

function toSize(total: bigint, systemReserved: bigint, other: bigint): MemorySize {
  return { total, systemReserved, allocatable: total - systemReserved - other }
}

function tooMuch({ node, type, size }: Reservation): Error {
  return new Error(`Cannot reserve ${show(size)} of ${type} on NUMA node ${node}: expected no more than it has`)
}

function hugepageName(sizeBytes: bigint): string {
  return `hugepages-${show(sizeBytes)}`
}

function show(bytes: bigint): string {
  return formatQuantity({ nanos: bytes * NANOS_PER_UNIT, format: 'BinarySI' })
}
