import type { NumaSet } from './hint-provider.ts'

/** All sets of these nodes but the empty one: fewer nodes first, then by the lowest node that differs. */
export function computeNumaSets(nodes: readonly number[]): readonly NumaSet[] {
  const sorted = nodes.toSorted((a, b) => a - b)
  const sets: NumaSet[] = []
  const extend = (chosen: readonly number[], from: number, missing: number): void => {
    if (missing === 0) {
      sets.push(new Set(chosen))
      return
    }
    for (const [index, node] of sorted.entries()) if (index >= from) extend([...chosen, node], index + 1, missing - 1)
  }
  for (let size = 1; size <= sorted.length; size += 1) extend([], 0, size)
  return sets
}

/** The nodes in order. */
export function sortNodes(nodes: NumaSet): readonly number[] {
  return [...nodes].sort((a, b) => a - b)
}
