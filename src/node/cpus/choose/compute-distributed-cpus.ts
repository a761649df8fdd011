import type { CpuSet } from '../../../model/resources/cpu-set.ts'
import { computePackedCpus } from './compute-packed-cpus.ts'
import type { CpuRequest } from './compute-packed-cpus.ts'
import { allCpus, groupCpus } from '../cpu-topology.ts'
import type { CpuTopology } from '../cpu-topology.ts'

/** How many CPUs of one NUMA node. */
interface Share {
  readonly node: number
  readonly count: number
}

/** Which NUMA nodes give how many CPUs, in this order. */
interface Split {
  readonly shares: readonly Share[]
  /** How uneven the remaining CPUs of the nodes would be. */
  readonly imbalance: number
}

interface SplitRequest {
  readonly count: number
  /** How many CPUs are given at a time: whole cores, or one. */
  readonly groupSize: number
  /** How much is free on each NUMA node. */
  readonly room: ReadonlyMap<number, number>
}

/**
 * Chooses CPUs evenly from as few NUMA nodes as can give them, so that what is left on the nodes is even too. Where nothing even can be
 * had they are packed. Undefined when there are too few.
 */
export function computeDistributedCpus(
  topology: CpuTopology,
  desired: Omit<CpuRequest, 'byUncoreCache'> & { readonly groupSize: number },
): CpuSet | undefined {
  const packing = { ...desired, byUncoreCache: false }
  if (desired.count > desired.available.size) return undefined
  if (desired.count === 0) return new Set()
  const split = desired.count % desired.groupSize === 0 ? findSplit(topology, desired) : undefined
  if (split === undefined) return computePackedCpus(topology, packing)
  const nodes = groupCpus(topology, 'numaNode')
  let taken: CpuSet = new Set()
  for (const { node, count } of split.shares) {
    const available = (nodes.get(node) ?? new Set()).intersection(desired.available).difference(taken)
    taken = taken.union(computePackedCpus(topology, { ...packing, available, count }) ?? new Set())
  }
  return taken
}

function findSplit(
  topology: CpuTopology,
  { available, count, groupSize }: Pick<CpuRequest, 'available' | 'count'> & { readonly groupSize: number },
): Split | undefined {
  const nodes = groupCpus(topology, 'numaNode')
  const free = groupCpus(
    topology.filter(({ cpu }) => available.has(cpu)),
    'numaNode',
  )
  const room = new Map(orderNodes(topology, free).map((node) => [node, free.get(node)?.size ?? 0]))
  const groups = count / groupSize
  const groupsPerNode = Math.ceil(Math.ceil(allCpus(topology).size / groupSize) / nodes.size)
  for (let size = Math.ceil(groups / groupsPerNode); size <= Math.min(groups, room.size); size += 1) {
    const splits = combinations([...room.keys()], size).flatMap(
      (chosen) => evenSplit(chosen, { count, groupSize, room }) ?? [],
    )
    const best = mostEven(splits)
    if (best !== undefined) return best
  }
  return undefined
}

/** The fuller nodes first; inside the fuller sockets where sockets are larger than nodes. */
function orderNodes(topology: CpuTopology, free: ReadonlyMap<number, CpuSet>): readonly number[] {
  const size = (node: number) => free.get(node)?.size ?? 0
  const nodes = [...free.keys()].sort((a, b) => size(a) - size(b) || a - b)
  const sockets = groupCpus(topology, 'socket')
  if (sockets.size >= groupCpus(topology, 'numaNode').size) return nodes
  const socketOf = new Map(topology.map(({ numaNode, socket }) => [numaNode, socket]))
  const roomOf = (node: number) => {
    return sum(nodes.filter((other) => socketOf.get(other) === socketOf.get(node)).map(size))
  }
  return nodes.toSorted((a, b) => roomOf(a) - roomOf(b) || (socketOf.get(a) ?? 0) - (socketOf.get(b) ?? 0))
}

/** The same from each of these nodes, and what remains group by group from some of them. */
function evenSplit(chosen: readonly number[], { count, groupSize, room }: SplitRequest): Split | undefined {
  const roomOf = (node: number) => room.get(node) ?? 0
  const wholeGroups = sum(chosen.map((node) => Math.floor(roomOf(node) / groupSize)))
  if (wholeGroups * groupSize < count) return undefined
  const share = Math.floor(count / chosen.length / groupSize) * groupSize
  if (chosen.some((node) => roomOf(node) < share)) return undefined
  const shares = chosen.map((node) => ({ node, count: share }))
  const rest = count - share * chosen.length
  if (rest === 0) return { shares, imbalance: imbalanceOf(room, shares) }
  const takers = chosen.filter((node) => roomOf(node) - share >= groupSize)
  const splits: Split[] = []
  for (let size = takers.length; size >= 1; size -= 1) {
    for (const nodes of combinations(takers, size)) {
      const dealt = dealRest(rest, nodes, { groupSize, roomOf: (node) => roomOf(node) - share })
      const all = [...shares, ...dealt]
      if (dealt.length * groupSize === rest) splits.push({ shares: all, imbalance: imbalanceOf(room, all) })
    }
  }
  return mostEven(splits)
}

/** Round after round one group from each node that still has one, until there is enough or nothing left. */
function dealRest(
  rest: number,
  nodes: readonly number[],
  { groupSize, roomOf }: { readonly groupSize: number; readonly roomOf: (node: number) => number },
): readonly Share[] {
  const dealt: Share[] = []
  for (let round = 1; dealt.length * groupSize < rest; round += 1) {
    const giving = nodes.filter((node) => roomOf(node) >= round * groupSize)
    if (giving.length === 0) break
    const missing = rest / groupSize - dealt.length
    dealt.push(...giving.slice(0, missing).map((node) => ({ node, count: groupSize })))
  }
  return dealt
}

/** The standard deviation of what is left on the nodes, in thousandths: less than that makes no difference. */
function imbalanceOf(room: ReadonlyMap<number, number>, shares: readonly Share[]): number {
  const given = Map.groupBy(shares, ({ node }) => node)
  const left = [...room].map(([node, free]) => free - sum((given.get(node) ?? []).map(({ count }) => count)))
  const mean = toThousandths(sum(left) / left.length)
  return toThousandths(Math.sqrt(sum(left.map((free) => (free - mean) ** 2)) / left.length))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function toThousandths(value: number): number {
  return Math.round(value * 1000) / 1000
}

/** The first of those that are equally even. */
function mostEven(splits: readonly Split[]): Split | undefined {
  return splits.reduce<Split | undefined>(
    (best, split) => (best === undefined || split.imbalance < best.imbalance ? split : best),
    undefined,
  )
}

function combinations(items: readonly number[], size: number): readonly (readonly number[])[] {
  if (size === 0) return [[]]
  return items.flatMap((item, index) =>
    combinations(items.slice(index + 1), size - 1).map((others) => [item, ...others]),
  )
}
