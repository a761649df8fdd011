import type { PlacementAffinity, PlacementHint, PlacementHints } from './hint-provider.ts'
import type { NumaPlace, PlacementPolicy } from './placement-policy.ts'

/** NUMA nodes as bits, the first node of the machine the lowest. */
type Mask = number

type Compare = (a: Mask, b: Mask) => number

/**
 * Merges the hints of all providers into one affinity. Preferred are nodes that every list of hints names and prefers. Without such
 * nodes it is those that one hint of each list has in common, about as many as the largest list needs. The order of the hints and of
 * their lists does not matter.
 */
export function computeAffinity(policy: PlacementPolicy, provided: readonly PlacementHints[]): PlacementAffinity {
  const { nodes, kind } = policy
  const all: Mask = 2 ** nodes.length - 1
  const requested = provided
    .flatMap((hints) => [...hints.values()].filter((list) => list !== undefined))
    .map((list) => (kind === 'single-numa-node' ? list.filter(isSingle) : list))
  const compare = createCompare(policy)
  const preferred = best(findPreferred(requested, nodes, all), compare)
  if (kind === 'single-numa-node') {
    const isAnywhere = preferred === undefined || preferred === all
    return { nodes: isAnywhere ? undefined : toNodes(preferred, nodes), preferred: preferred !== undefined }
  }
  if (preferred !== undefined) return { nodes: toNodes(preferred, nodes), preferred: true }
  const lists = requested.filter((hints) => hints.length > 0).map((hints) => hints.map((hint) => toMask(hint, nodes)))
  const common = lists.reduce<readonly Mask[]>((reach, masks) => intersectAll(reach, masks, nodes.length), [all])
  const needed = lists.reduce((most, masks) => Math.max(most, countBits(best(masks, byCount) ?? 0)), 0)
  const chosen = best(common.filter(Boolean), byNeed(needed, compare)) ?? all
  return { nodes: toNodes(chosen, nodes), preferred: false }
}

/** May a pod run with this affinity? */
export function isAdmitted({ kind }: Pick<PlacementPolicy, 'kind'>, { preferred }: PlacementAffinity): boolean {
  return kind === 'best-effort' || preferred
}

function isSingle({ nodes, preferred }: PlacementHint): boolean {
  return preferred && nodes.size === 1
}

/** The nodes that all lists of hints prefer; all nodes where there are no hints. */
function findPreferred(
  requested: readonly (readonly PlacementHint[])[],
  nodes: readonly NumaPlace[],
  all: Mask,
): readonly Mask[] {
  const [first, ...others] = requested.map(
    (hints) => new Set(hints.filter(({ preferred }) => preferred).map((hint) => toMask(hint, nodes))),
  )
  if (first === undefined) return [all]
  return [...others.reduce((common, masks) => common.intersection(masks), first)].filter(Boolean)
}

/**
 * What one of these and one of those have in common, for all pairs. Counted by supersets, so that it takes as many steps as there are sets of
 * nodes, and not as there are pairs of them.
 */
function intersectAll(some: readonly Mask[], others: readonly Mask[], bits: number): readonly Mask[] {
  const [a, b] = [some, others].map((masks) => sumSupersets(masks, bits))
  const pairs = Float64Array.from(a ?? [], (count, mask) => count * (b?.[mask] ?? 0))
  forEachBit(pairs, bits, (mask, superset) => (pairs[mask] = (pairs[mask] ?? 0) - (pairs[superset] ?? 0)))
  return [...pairs.keys()].filter((mask) => (pairs[mask] ?? 0) > 0)
}

/** How many of the masks contain each mask. */
function sumSupersets(masks: readonly Mask[], bits: number): Float64Array {
  const counts = new Float64Array(2 ** bits)
  for (const mask of new Set(masks)) counts[mask] = 1
  forEachBit(counts, bits, (mask, superset) => (counts[mask] = (counts[mask] ?? 0) + (counts[superset] ?? 0)))
  return counts
}

function forEachBit(counts: Float64Array, bits: number, visit: (mask: Mask, superset: Mask) => void): void {
  for (let bit = 1; bit < 2 ** bits; bit *= 2)
    for (let mask = 0; mask < counts.length; mask += 1) if ((mask & bit) === 0) visit(mask, mask | bit)
}

const byCount: Compare = (a, b) => countBits(a) - countBits(b)

/** Fewer nodes before more; then nearer ones where that is wanted; then lower ones. */
function createCompare({ nodes, preferClosest, kind }: PlacementPolicy): Compare {
  const distance = (mask: Mask) => (preferClosest && kind !== 'single-numa-node' ? averageDistance(mask, nodes) : 0)
  return (a, b) => byCount(a, b) || distance(a) - distance(b) || a - b
}

/** As many nodes as are needed, else the most of those with fewer, else the fewest. */
function byNeed(needed: number, compare: Compare): Compare {
  const rank = (mask: Mask) => (countBits(mask) <= needed ? needed - countBits(mask) : countBits(mask))
  return (a, b) => rank(a) - rank(b) || compare(a, b)
}

function averageDistance(mask: Mask, nodes: readonly NumaPlace[]): number {
  const chosen = nodes.filter((_, index) => hasBit(mask, index))
  const distances = chosen.flatMap((from) => chosen.map((to) => from.distances.get(to.id) ?? 0))
  return distances.reduce((sum, distance) => sum + distance, 0) / distances.length
}

function best(masks: readonly Mask[], compare: Compare): Mask | undefined {
  return masks.reduce<Mask | undefined>(
    (found, mask) => (found === undefined || compare(mask, found) < 0 ? mask : found),
    undefined,
  )
}

function toMask({ nodes: wanted }: Pick<PlacementHint, 'nodes'>, nodes: readonly NumaPlace[]): Mask {
  return nodes.reduce((mask, { id }, index) => (wanted.has(id) ? mask + 2 ** index : mask), 0)
}

function toNodes(mask: Mask, nodes: readonly NumaPlace[]): ReadonlySet<number> {
  return new Set(nodes.filter((_, index) => hasBit(mask, index)).map(({ id }) => id))
}

function hasBit(mask: Mask, index: number): boolean {
  return (mask & (2 ** index)) !== 0
}

function countBits(mask: Mask): number {
  let count = 0
  for (let rest = mask; rest > 0; rest &= rest - 1) count += 1
  return count
}
