import { parseCpuSet } from '../../src/model/resources/cpu-set.ts'
import type { NumaSet, PlacementAffinity, PlacementHint } from '../../src/node/placement/hint-provider.ts'
import type { NumaPlace, PlacementPolicy } from '../../src/node/placement/placement-policy.ts'

/** "0! 1 0,1": hints for node 0, which is preferred, node 1, and both; "" for none. */
export function toHints(text: string): readonly PlacementHint[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((hint) => ({ nodes: toNodes(hint.replace('!', '')), preferred: hint.endsWith('!') }))
}

/** The same the other way round. */
export function showHints(hints: readonly PlacementHint[] | undefined): string {
  return (hints ?? []).map(({ nodes, preferred }) => `${[...nodes].join(',')}${preferred ? '!' : ''}`).join(' ')
}

/** "0,1!" or "anywhere". */
export function showAffinity({ nodes, preferred }: PlacementAffinity): string {
  return `${nodes === undefined ? 'anywhere' : [...nodes].join(',')}${preferred ? '!' : ''}`
}

export function toNodes(text: string): NumaSet {
  return new Set(parseCpuSet(text))
}

/** Nodes of which two and two are near each other, unless distances are given. */
export function createNumaPlaces(
  count: number,
  distance = (a: number, b: number) => (a === b ? 10 : a >> 1 === b >> 1 ? 11 : 21),
): readonly NumaPlace[] {
  const ids = Array.from({ length: count }, (_, id) => id)
  return ids.map((id) => ({ id, distances: new Map(ids.map((other) => [other, distance(id, other)])) }))
}

/** A policy on a machine with so many nodes. */
export function createPlacementPolicy(
  kind: PlacementPolicy['kind'],
  nodes: number,
  parts: Partial<PlacementPolicy> = {},
): PlacementPolicy {
  const nodePlaces = createNumaPlaces(nodes)
  return { kind, scope: 'container', podLevel: false, preferClosest: false, nodes: nodePlaces, ...parts }
}
