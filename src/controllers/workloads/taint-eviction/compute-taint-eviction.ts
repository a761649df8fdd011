import type { Taint, Toleration } from '../../../model/generated/core-v1.ts'
import { toleratesTaint } from '../../../model/pod/matching/tolerates-taint.ts'
import { toSeconds } from '../../../model/text/int64.ts'

export interface EvictionInput {
  readonly tolerations: readonly Toleration[] | undefined
  /** All taints of the node of the pod. */
  readonly taints: readonly Taint[] | undefined
  /** The pod is gone or being deleted, by us or by another client. */
  readonly isLeaving: boolean
  /** When its time on the node is over, if it waits for that; on the monotonic clock, as `now`. */
  readonly dueAt: number | undefined
  readonly now: number
}

/** What is to be done about a pod; `isCancelled`: it no longer waits for the end of its time. */
export type EvictionStep =
  | { readonly kind: 'stay' | 'evict'; readonly isCancelled: boolean }
  | { readonly kind: 'wait'; readonly dueAt: number }

/**
 * Parity: pkg/controller/tainteviction processPodOnNode(). A pod that waits keeps its time when taints or tolerations change, as long
 * as it still tolerates all of them for a time: neither a longer nor a shorter toleration moves it.
 */
export function computeTaintEviction({ isLeaving, dueAt, now, ...input }: EvictionInput): EvictionStep {
  const isWaiting = dueAt !== undefined
  const seconds = isLeaving ? undefined : computeToleratedSeconds(input.tolerations ?? [], input.taints)
  if (seconds === undefined) return { kind: 'stay', isCancelled: isWaiting }
  if (seconds === 'untolerated') return { kind: 'evict', isCancelled: isWaiting }
  const endsAt = dueAt ?? now + seconds * 1000
  return endsAt <= now ? { kind: 'evict', isCancelled: false } : { kind: 'wait', dueAt: endsAt }
}

/** The taints that drive away pods which are on the node already. */
export function evictingTaints(taints: readonly Taint[] = []): readonly Taint[] {
  return taints.filter(({ effect }) => effect === 'NoExecute')
}

/** How long a pod may stay; undefined: for ever. Of several tolerations for one taint the first counts. */
function computeToleratedSeconds(
  tolerations: readonly Toleration[],
  taints: readonly Taint[] | undefined,
): number | 'untolerated' | undefined {
  const used = evictingTaints(taints).map((taint) =>
    tolerations.find((toleration) => toleratesTaint([toleration], taint, { comparisons: false })),
  )
  if (used.includes(undefined)) return 'untolerated'
  const limits = used.flatMap((toleration) => toleration?.tolerationSeconds ?? [])
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits.map(toSeconds)))
}
