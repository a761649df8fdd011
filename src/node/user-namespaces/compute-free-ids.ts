import type { UserNamespaceMapping } from '../../model/pod/user-namespace.ts'
import type { IdRange } from './compute-id-range.ts'

export interface FreeIdsInput {
  readonly range: IdRange
  readonly idsPerPod: number
  readonly held: Iterable<UserNamespaceMapping>
  /** From 0 to below 1. Which pod gets which ids is left to chance, so that none meets the files of the one before it. */
  readonly random: number
}

/** The first id of a block in which all ids are free; undefined when there is none. */
export function computeFreeIds({ range, idsPerPod, held, random }: FreeIdsInput): number | undefined {
  const taken = new Set<number>()
  for (const { uids, gids } of held) {
    for (const { hostId, length } of [...uids, ...gids]) {
      const last = Math.floor((hostId + length - 1) / idsPerPod)
      for (let block = Math.floor(hostId / idsPerPod); block <= last; block += 1) taken.add(block)
    }
  }
  const first = range.first / idsPerPod
  const free = Array.from({ length: range.length / idsPerPod }, (_, index) => first + index).filter(
    (block) => !taken.has(block),
  )
  const chosen = free[Math.floor(random * free.length)]
  return chosen === undefined ? undefined : chosen * idsPerPod
}
