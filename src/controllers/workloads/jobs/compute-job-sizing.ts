import { computeBackOff } from '../../../base/async/back-off.ts'
import type { Job } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeDeletionOrder } from '../pods/compute-deletion-order.ts'
import type { JobCounts } from './compute-job-decision.ts'
import { earlierFailures, endedAt, indexOf, isIndexed, isTracked } from './job-pods.ts'
import type { JobPods } from './job-pods.ts'

/** A pod to be made. */
export interface NewPod {
  /** Of an indexed Job. */
  readonly index: number | undefined
  /** How often the index failed before; only where that is limited. */
  readonly failures: number | undefined
}

/** How the number of a Job's pods becomes what it should be. */
export interface JobSizing {
  readonly create: readonly NewPod[]
  /** Too many: they go without being counted. */
  readonly remove: readonly Live<Pod>[]
  /** When a failure has been waited for. */
  readonly afterMs: number | undefined
}

const RETRY = { firstMs: 10_000, longestMs: 600_000 }
const MOST_AT_ONCE = 500

/** `failures`: when the pods ended that failed since the last success. */
export function computeJobSizing(
  job: Live<Job>,
  pods: JobPods,
  counts: JobCounts,
  { failures, now }: { readonly failures: readonly number[]; readonly now: number },
): JobSizing {
  const { active, terminating } = pods
  const { podReplacementPolicy } = job.spec
  const remove = computeExcess(job, active, counts, now)
  if (remove.length > 0) return { create: [], remove: remove.slice(0, MOST_AT_ONCE), afterMs: undefined }
  const waiting = podReplacementPolicy === 'Failed' ? terminating.length : 0
  const missing = Math.min(wantedPods(job, active.length, counts) - active.length - waiting, MOST_AT_ONCE)
  if (missing <= 0) return { create: [], remove: [], afterMs: undefined }
  if (isIndexed(job)) return computeIndexes(job, pods, counts, { missing, failures, now })
  const waitMs = computeWait(failures.length, Math.max(0, ...failures), now)
  if (waitMs > 0) return { create: [], remove: [], afterMs: waitMs }
  const one: NewPod = { index: undefined, failures: undefined }
  return { create: Array.from({ length: missing }, () => one), remove: [], afterMs: undefined }
}

function wantedPods({ spec }: Live<Job>, active: number, { succeeded }: JobCounts): number {
  const { completions, parallelism = 1 } = spec
  if (completions === undefined) return succeeded > 0 ? Math.min(active, parallelism) : parallelism
  return Math.min(Math.max(0, completions - succeeded), parallelism)
}

/** Doubled, unknown and finished indexes go first, then those that cost least. */
function computeExcess(
  job: Live<Job>,
  active: readonly Live<Pod>[],
  counts: JobCounts,
  now: number,
): readonly Live<Pod>[] {
  const excess = active.length - wantedPods(job, active.length, counts)
  const ordered = computeDeletionOrder(active, { now, isPlain: true })
  if (!isIndexed(job)) return excess > 0 ? ordered.slice(0, excess) : []
  const seen = new Set<number>()
  // The one that is worth most comes last in the order of deletion, and keeps the index.
  const wrong = ordered.toReversed().filter((pod) => {
    const index = indexOf(pod)
    if (index === undefined || index >= (job.spec.completions ?? 0) || seen.has(index)) return true
    seen.add(index)
    return false
  })
  if (excess <= wrong.length) return wrong
  return [...wrong, ...ordered.filter((pod) => !wrong.includes(pod)).slice(0, excess - wrong.length)]
}

function computeIndexes(
  job: Live<Job>,
  pods: JobPods,
  { completedIndexes, failedIndexes }: JobCounts,
  { missing, failures, now }: { readonly missing: number; readonly failures: readonly number[]; readonly now: number },
): JobSizing {
  const { completions = 0, backoffLimitPerIndex, podReplacementPolicy } = job.spec
  const used = [...pods.active, ...(podReplacementPolicy === 'Failed' ? pods.terminating : [])].map(indexOf)
  const taken = new Set([...completedIndexes, ...failedIndexes, ...used])
  const isPerIndex = backoffLimitPerIndex !== undefined
  const waits: number[] = []
  const create: NewPod[] = []
  for (let index = 0; index < completions && create.length < missing; index += 1) {
    if (taken.has(index)) continue
    const before = isPerIndex ? pods.failed.filter((pod) => isTracked(pod) && indexOf(pod) === index) : []
    const count = before.length === 0 ? 0 : Math.max(...before.map(earlierFailures)) + 1
    const waitMs = isPerIndex
      ? computeWait(count, Math.max(0, ...before.map(endedAt)), now)
      : computeWait(failures.length, Math.max(0, ...failures), now)
    if (waitMs > 0) waits.push(waitMs)
    else create.push({ index, failures: isPerIndex ? count : undefined })
  }
  return { create, remove: [], afterMs: waits.length === 0 ? undefined : Math.min(...waits) }
}

/** What is left of the wait after so many failures, the last of them at a time. */
function computeWait(count: number, lastAt: number, now: number): number {
  return count === 0 ? 0 : Math.max(0, lastAt + computeBackOff(RETRY, count) - now)
}
