import type { Job, JobCondition, JobStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import type { Live } from '../../engine/live-object.ts'
import { isReady } from '../pods/pod-availability.ts'
import { computeFailureAction } from './compute-failure-action.ts'
import { computeJobDecision } from './compute-job-decision.ts'
import type { JobCounts, JobDecision } from './compute-job-decision.ts'
import { computeJobSizing } from './compute-job-sizing.ts'
import type { NewPod } from './compute-job-sizing.ts'
import { formatIndexes, parseIndexes } from './index-set.ts'
import { earlierFailures, indexOf, isIndexed, isTracked, sortJobPods } from './job-pods.ts'
import type { JobPods } from './job-pods.ts'

/** What one pass does for a Job, in this order. */
export interface JobPlan {
  readonly status: JobStatus
  /** Counted, or not worth counting: they need not be kept any longer. */
  readonly release: readonly Live<Pod>[]
  readonly remove: readonly Live<Pod>[]
  readonly create: readonly NewPod[]
  readonly afterMs: number | undefined
}

export interface JobInput {
  readonly job: Live<Job>
  /** All that are the Job's. */
  readonly pods: readonly Live<Pod>[]
  /** When the pods ended that failed since the last success. */
  readonly failures: readonly number[]
  readonly now: number
}

const MOST_UNCOUNTED = 500

/**
 * Each ended pod is counted once, whenever we are killed: its UID is in the status before its finalizer goes, and becomes a number in the status
 * only when the finalizer is gone.
 */
export function computeJobPlan({ job, pods, failures, now }: JobInput): JobPlan {
  const sorted = sortJobPods(job, pods)
  const counting = computeCounting(job, pods, sorted)
  const isSuspended = job.spec.suspend === true
  const started = withStart(job, now)
  const decision = computeJobDecision(started, sorted, counting.counts, now)
  if (decision !== undefined) return finish(started, sorted, counting, decision, now)
  const base = toStatus(started, sorted, counting)
  if (isSuspended) {
    const status = { ...base, startTime: undefined, conditions: withSuspension(job, true, now) }
    return {
      status,
      release: [...counting.release, ...sorted.active],
      remove: sorted.active,
      create: [],
      afterMs: undefined,
    }
  }
  const sizing = computeJobSizing(started, sorted, counting.counts, { failures, now })
  const deadline = msUntilDeadline(started, now)
  const waits = [sizing.afterMs, deadline].filter((ms) => ms !== undefined)
  return {
    status: { ...base, conditions: withSuspension(job, false, now) },
    release: [...counting.release, ...sizing.remove],
    remove: sizing.remove,
    create: job.metadata.deletionTimestamp === undefined ? sizing.create : [],
    afterMs: waits.length === 0 ? undefined : Math.min(...waits),
  }
}

interface Counting {
  readonly counts: JobCounts
  /** Final, for the status. */
  readonly succeeded: number
  readonly failed: number
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
  readonly release: readonly Live<Pod>[]
}

function computeCounting(job: Live<Job>, pods: readonly Live<Pod>[], sorted: JobPods, isEnding = false): Counting {
  const { status = {}, spec } = job
  const limit = spec.completions ?? 0
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid, pod]))
  const before = status.uncountedTerminatedPods ?? {}
  const open = (uids: readonly string[] = []) => uids.filter((uid) => tracked.has(uid))
  const settled = (uids: readonly string[] = []) => uids.length - open(uids).length
  const isCountable = (pod: Live<Pod>) =>
    tracked.has(pod.metadata.uid) && (!isIndexed(job) || (indexOf(pod) ?? limit) < limit)
  const failedPods = (
    isEnding ? [...tracked.values()].filter(({ status: own }) => own?.phase !== 'Succeeded') : sorted.failed
  )
    .filter(isCountable)
    .filter(({ metadata }) => !before.failed?.includes(metadata.uid))
  const [ignored, counted] = split(failedPods, (pod) => computeFailureAction(job, pod).action === 'Ignore')
  const succeededPods = sorted.succeeded
    .filter(isCountable)
    .filter(({ metadata }) => !before.succeeded?.includes(metadata.uid))
  const completedIndexes = parseIndexes(isIndexed(job) ? status.completedIndexes : '', limit)
  if (isIndexed(job)) for (const pod of succeededPods) completedIndexes.add(indexOf(pod) ?? 0)
  // What only ends because the Job does has not failed by itself.
  const failedThemselves = counted.filter((pod) => sorted.failed.includes(pod))
  const failedIndexes = computeFailedIndexes(job, failedThemselves, completedIndexes)
  // The last failure of an index is kept until its successor carries the count on.
  const [kept, releasable] = split(
    counted,
    (pod) => !isEnding && isCarrier(job, pod, pods, { completedIndexes, failedIndexes }),
  )
  const uncounted = {
    succeeded: isIndexed(job) ? [] : [...open(before.succeeded), ...uidsOf(succeededPods)].slice(0, MOST_UNCOUNTED),
    failed: [...open(before.failed), ...uidsOf(releasable)].slice(0, MOST_UNCOUNTED),
  }
  const succeeded = isIndexed(job) ? completedIndexes.size : (status.succeeded ?? 0) + settled(before.succeeded)
  const failed = (status.failed ?? 0) + settled(before.failed)
  const isDeleted = job.metadata.deletionTimestamp !== undefined
  const named = new Set([...uncounted.succeeded, ...uncounted.failed])
  const beyond = isIndexed(job)
    ? [...sorted.succeeded, ...sorted.failed].filter((pod) => tracked.has(pod.metadata.uid) && !isCountable(pod))
    : []
  return {
    counts: {
      succeeded: isIndexed(job) ? succeeded : succeeded + uncounted.succeeded.length,
      failed: failed + uncounted.failed.length + kept.length,
      completedIndexes,
      failedIndexes,
    },
    succeeded,
    failed,
    uncounted,
    release: isDeleted
      ? [...tracked.values()]
      : [
          ...[...tracked.values()].filter(({ metadata }) => named.has(metadata.uid)),
          ...(isIndexed(job) ? succeededPods : []),
          ...ignored,
          ...beyond,
        ],
  }
}

function computeFailedIndexes(
  job: Live<Job>,
  failed: readonly Live<Pod>[],
  completed: ReadonlySet<number>,
): Set<number> {
  const { backoffLimitPerIndex, completions = 0 } = job.spec
  if (backoffLimitPerIndex === undefined) return new Set()
  const indexes = parseIndexes(job.status?.failedIndexes, completions)
  for (const pod of failed) {
    const isOver = earlierFailures(pod) >= backoffLimitPerIndex || computeFailureAction(job, pod).action === 'FailIndex'
    const index = indexOf(pod) ?? 0
    if (isOver && !completed.has(index)) indexes.add(index)
  }
  return indexes
}

/** Whether a failed pod is the only one that knows how often its index failed. */
function isCarrier(
  { spec }: Live<Job>,
  pod: Live<Pod>,
  pods: readonly Live<Pod>[],
  { completedIndexes, failedIndexes }: Pick<JobCounts, 'completedIndexes' | 'failedIndexes'>,
): boolean {
  if (spec.backoffLimitPerIndex === undefined) return false
  const index = indexOf(pod) ?? 0
  if (completedIndexes.has(index) || failedIndexes.has(index)) return false
  return !pods.some((each) => indexOf(each) === index && earlierFailures(each) > earlierFailures(pod))
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function uidsOf(pods: readonly Live<Pod>[]): readonly string[] {
  return pods.map(({ metadata }) => metadata.uid)
}

/** The clock of a deadline begins with the first pass that is not suspended. */
function withStart(job: Live<Job>, now: number): Live<Job> {
  if (job.spec.suspend === true || job.status?.startTime !== undefined) return job
  return { ...job, status: { ...job.status, startTime: toApiTime(now) } }
}

function toStatus(job: Live<Job>, { active, terminating }: JobPods, counting: Counting): JobStatus {
  const { status = {}, spec } = job
  const { succeeded, failed, uncounted, counts } = counting
  return {
    ...status,
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: terminating.length,
    succeeded,
    failed,
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
      ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
    },
    ...(isIndexed(job) && { completedIndexes: formatIndexes(counts.completedIndexes) || undefined }),
    ...(spec.backoffLimitPerIndex !== undefined && { failedIndexes: formatIndexes(counts.failedIndexes) }),
  }
}

/** A Job that ends first says why, then ends its pods, and is finished when the last of them is counted and gone. */
function finish(job: Live<Job>, sorted: JobPods, before: Counting, decision: JobDecision, now: number): JobPlan {
  const pods = [...new Set([...sorted.active, ...sorted.terminating, ...sorted.succeeded, ...sorted.failed])]
  const counting = decision.isSuccess ? before : computeCounting(job, pods, sorted, true)
  const isOpen = counting.uncounted.succeeded.length + counting.uncounted.failed.length > 0
  const isOver = !isOpen && sorted.active.length === 0 && sorted.terminating.length === 0
  const { isSuccess, reason, message } = decision
  const interim = withCondition(
    job.status?.conditions ?? [],
    { type: isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget', reason, message },
    now,
  )
  const conditions = isOver
    ? withCondition(interim, { type: isSuccess ? 'Complete' : 'Failed', reason, message }, now)
    : interim
  const status: JobStatus = {
    ...toStatus(job, sorted, counting),
    conditions,
    ...(isOver && isSuccess && { completionTime: toApiTime(now) }),
  }
  const uncounted = isSuccess ? pods.filter((pod) => isTracked(pod) && pod.status?.phase !== 'Succeeded') : []
  return { status, release: [...counting.release, ...uncounted], remove: sorted.active, create: [], afterMs: undefined }
}

function withCondition(
  conditions: readonly JobCondition[],
  condition: Pick<JobCondition, 'type' | 'reason' | 'message'> & { readonly status?: string },
  now: number,
): readonly JobCondition[] {
  const { status = 'True', ...rest } = condition
  const present = conditions.find(({ type }) => type === condition.type)
  if (present?.status === status && present.reason === condition.reason) return conditions
  const time = toApiTime(now)
  const made = { ...rest, status, lastProbeTime: time, lastTransitionTime: time }
  return present === undefined ? [...conditions, made] : conditions.map((each) => (each === present ? made : each))
}

/** A Job that was never suspended says nothing about it. */
function withSuspension(job: Live<Job>, isSuspended: boolean, now: number): readonly JobCondition[] | undefined {
  const conditions = job.status?.conditions ?? []
  const isKnown = conditions.some(({ type }) => type === 'Suspended')
  if (!isSuspended && !isKnown) return job.status?.conditions
  const [reason, message] = isSuspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed']
  return withCondition(conditions, { type: 'Suspended', status: isSuspended ? 'True' : 'False', reason, message }, now)
}

function msUntilDeadline({ spec, status }: Live<Job>, now: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined
  return Math.max(0, Date.parse(status.startTime) + Number(spec.activeDeadlineSeconds) * 1000 - now)
}
