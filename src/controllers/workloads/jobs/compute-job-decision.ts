import type { Job, JobCondition } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeFailureAction } from './compute-failure-action.ts'
import { parseIndexes } from './index-set.ts'
import { isIndexed, isTracked } from './job-pods.ts'
import type { JobPods } from './job-pods.ts'

/** How a Job ends: before its last pods are gone it only says so, afterwards it is finished. */
export interface JobDecision {
  readonly isSuccess: boolean
  readonly reason: string
  readonly message: string
}

/** What has been counted so far, with what this pass has found. */
export interface JobCounts {
  readonly succeeded: number
  readonly failed: number
  readonly completedIndexes: ReadonlySet<number>
  readonly failedIndexes: ReadonlySet<number>
}

function findCondition({ status }: Live<Job>, type: string): JobCondition | undefined {
  return status?.conditions?.find((each) => each.type === type && each.status === 'True')
}

/** How a Job has ended; undefined while it has not. */
export function findFinish(job: Live<Job>): JobCondition | undefined {
  return findCondition(job, 'Complete') ?? findCondition(job, 'Failed')
}

/** Whether a Job is to end, and how; the first reason counts. */
export function computeJobDecision(
  job: Live<Job>,
  pods: JobPods,
  counts: JobCounts,
  now: number,
): JobDecision | undefined {
  const made = findCondition(job, 'SuccessCriteriaMet') ?? findCondition(job, 'FailureTarget')
  if (made !== undefined) {
    const { type, reason = '', message = '' } = made
    return { isSuccess: type === 'SuccessCriteriaMet', reason, message }
  }
  return (
    computeFailure(job, pods, counts, now) ??
    computeIndexFailure(job, counts) ??
    computePolicySuccess(job, counts) ??
    computeCompletion(job, pods, counts)
  )
}

function fail(reason: string, message: string): JobDecision {
  return { isSuccess: false, reason, message }
}

function computeFailure(job: Live<Job>, pods: JobPods, { failed }: JobCounts, now: number): JobDecision | undefined {
  const { backoffLimit = 6, activeDeadlineSeconds, suspend, template } = job.spec
  for (const pod of pods.failed.filter(isTracked)) {
    const { action, message } = computeFailureAction(job, pod)
    if (action === 'FailJob') return fail('PodFailurePolicy', message)
  }
  const restarts = template.spec?.restartPolicy === 'OnFailure' ? countRestarts(pods) : 0
  const areTooMany = backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
  if (failed > backoffLimit || (restarts > 0 && areTooMany))
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  const startedAt = Date.parse(job.status?.startTime ?? '')
  const isLate = activeDeadlineSeconds !== undefined && now - startedAt >= Number(activeDeadlineSeconds) * 1000
  return isLate && suspend !== true
    ? fail('DeadlineExceeded', 'Job was active longer than specified deadline')
    : undefined
}

function countRestarts({ active }: JobPods): number {
  return active
    .flatMap(({ status }) => [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])])
    .reduce((total, { restartCount }) => total + restartCount, 0)
}

function computeIndexFailure({ spec }: Live<Job>, counts: JobCounts): JobDecision | undefined {
  const { backoffLimitPerIndex, maxFailedIndexes, completions = 0 } = spec
  const failed = counts.failedIndexes.size
  if (backoffLimitPerIndex === undefined || failed === 0) return undefined
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes)
    return fail('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  return failed + counts.completedIndexes.size >= completions
    ? fail('FailedIndexes', 'Job has failed indexes')
    : undefined
}

function computePolicySuccess(job: Live<Job>, { completedIndexes }: JobCounts): JobDecision | undefined {
  const { successPolicy, completions = 0 } = job.spec
  if (successPolicy === undefined || !isIndexed(job)) return undefined
  const index = successPolicy.rules.findIndex(({ succeededIndexes, succeededCount }) => {
    const listed = succeededIndexes === undefined ? undefined : parseIndexes(succeededIndexes, completions)
    const done =
      listed === undefined ? completedIndexes.size : [...listed].filter((each) => completedIndexes.has(each)).length
    return done >= (succeededCount ?? listed?.size ?? completions)
  })
  return index < 0
    ? undefined
    : { isSuccess: true, reason: 'SuccessPolicy', message: `Matched rules at index ${index}` }
}

function computeCompletion(
  { spec }: Live<Job>,
  { active }: JobPods,
  { succeeded }: JobCounts,
): JobDecision | undefined {
  const { completions } = spec
  const isEnough = completions === undefined ? succeeded > 0 : succeeded >= completions
  if (!isEnough || active.length > 0) return undefined
  return { isSuccess: true, reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
}
