import type { NumaSet } from './hint-provider.ts'

/** All sets of these nodes but the empty one: fewer nodes first, then those whose highest nodes are lower. */
export function computeNumaSets(nodes: readonly number[]): readonly NumaSet[] {
  const sets: NumaSet[] = []
  for (const node of nodes.toSorted((a, b) => a - b))
    sets.push(...[new Set<number>(), ...sets].map((set) => new Set([...set, node])))
  return sets.sort((a, b) => a.size - b.size)
}

/** The nodes in order. */
export function sortNodes(nodes: NumaSet): readonly number[] {
  return [...nodes].sort((a, b) => a - b)
}
