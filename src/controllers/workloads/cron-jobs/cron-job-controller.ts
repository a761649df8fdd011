import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { CronJob, CronJobStatus, Job } from '../../../model/generated/api-groups.ts'
import type { ObjectReference } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { parseCronSchedule } from '../../../model/text/cron-schedule.ts'
import { toControllerReference } from '../ownership/claim-children.ts'
import { isAlreadyThere, isNamespaceEnding } from '../../engine/api-objects.ts'
import { createController, createQueue, queueChanges, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { controllerOf, toKey } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { sameStatus } from '../../engine/same-status.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { computeDueRun } from './compute-due-run.ts'
import { createWallClock } from './compute-next-time.ts'

interface CronJobs extends Pick<ControllerDeps, 'clock' | 'jobs' | 'cronJobs'> {
  readonly record: RecordEvent
}

const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const SLACK_MS = 100
const MINUTE_MS = 60_000
// Clocks are set, and zones change: the next time is computed again now and then.
const LONGEST_WAIT_MS = 3_600_000

/** Starts Jobs by the clock. */
export function createCronJobController(deps: ControllerDeps): Controller {
  const { jobs, cronJobs } = deps
  const queue = createQueue('cron-jobs', deps)
  queueChanges(queue, cronJobs)
  jobs.known.onChange((after, before) => {
    const job = after ?? before
    const owner = job && controllerOf(job)
    if (owner?.kind === 'CronJob') queue.add(toKey(job?.metadata.namespace ?? '', owner.name))
  })
  const record = createObjectEvents(deps.record, 'cronjob-controller', cronJobs.kind)
  return createController({
    name: 'cron-jobs',
    queue,
    reads: [jobs, cronJobs],
    reconcile: reconcileKnown(cronJobs, (cronJob, signal) => reconcile({ ...deps, record }, cronJob, signal)),
  })
}

async function reconcile(parts: CronJobs, cronJob: Live<CronJob>, signal: AbortSignal): Promise<NextTurn> {
  const { namespace, name } = cronJob.metadata
  const own = parts.jobs.known.in(namespace).filter((job) => {
    const controller = controllerOf(job)
    return controller?.kind === 'CronJob' && controller.name === name
  })
  for (const job of computeExpiredJobs(cronJob, own)) await removeJob(parts, cronJob, job, signal)
  const status = await computeActive(parts, cronJob, own, signal)
  const started = await startDue(parts, cronJob, status, signal)
  if (!sameStatus(started.status, cronJob.status))
    await parts.cronJobs.updateStatus({ ...cronJob, status: started.status }, signal)
  return started.nextTurn
}

async function removeJob({ jobs, record }: CronJobs, cronJob: Live<CronJob>, job: Live<Job>, signal: AbortSignal) {
  try {
    await jobs.remove(job, { propagationPolicy: 'Background' }, signal)
    record(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`)
  } catch (error) {
    if (!signal.aborted) record(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${errorMessage(error)}`)
    throw error
  }
}

/** The status with those Jobs that still run. */
async function computeActive(
  { jobs, record }: CronJobs,
  cronJob: Live<CronJob>,
  own: readonly Live<Job>[],
  signal: AbortSignal,
): Promise<CronJobStatus> {
  let { active = [], lastSuccessfulTime } = cronJob.status ?? {}
  for (const job of own) {
    const isListed = active.some(({ uid }) => uid === job.metadata.uid)
    const end = endOfJob(job)
    if (!isListed && end === undefined && controllerOf(job)?.uid === cronJob.metadata.uid) {
      const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`
      record(cronJob, 'Warning', 'UnexpectedJob', message)
    }
    if (isListed && end !== undefined) {
      active = active.filter(({ uid }) => uid !== job.metadata.uid)
      record(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${job.metadata.name}, condition: ${end}`)
    }
    const { completionTime } = job.status ?? {}
    if (end === 'Complete' && completionTime !== undefined && completionTime > (lastSuccessfulTime ?? ''))
      lastSuccessfulTime = completionTime
  }
  for (const { name = '', uid } of active) {
    const job = jobs.known.get(cronJob.metadata.namespace, name)
    if (job?.metadata.uid === uid) continue
    const fresh = await jobs.read(cronJob.metadata.namespace, name, signal)
    if (fresh?.metadata.uid === uid) continue
    active = active.filter((each) => each.uid !== uid)
    record(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`)
  }
  return { ...cronJob.status, active: active.length > 0 ? active : undefined, lastSuccessfulTime }
}

interface Started {
  readonly status: CronJobStatus
  readonly nextTurn: NextTurn
}

async function startDue(
  parts: CronJobs,
  cronJob: Live<CronJob>,
  status: CronJobStatus,
  signal: AbortSignal,
): Promise<Started> {
  const { clock, record } = parts
  const { spec, metadata } = cronJob
  if (metadata.deletionTimestamp !== undefined || spec.suspend === true) return { status, nextTurn: undefined }
  const now = clock.now()
  const wall = createWallClock(spec.timeZone)
  const { dueAt, nextAt, isFarBehind, isTooLate } = computeDueRun(cronJob, parseCronSchedule(spec.schedule), wall, now)
  const nextTurn = nextAt === undefined ? undefined : { afterMs: Math.min(LONGEST_WAIT_MS, nextAt - now + SLACK_MS) }
  if (isFarBehind) {
    const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'
    record(cronJob, 'Warning', 'TooManyMissedTimes', message)
  }
  if (isTooLate) record(cronJob, 'Warning', 'MissSchedule', 'Missed scheduled time to start a job')
  if (dueAt === undefined || status.lastScheduleTime === toApiTime(dueAt)) return { status, nextTurn }
  const active = status.active ?? []
  if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
    record(
      cronJob,
      'Normal',
      'JobAlreadyActive',
      'Not starting job because prior execution is running and concurrency policy is Forbid',
    )
    return { status, nextTurn }
  }
  if (spec.concurrencyPolicy === 'Replace') await removeActive(parts, cronJob, active, signal)
  const kept = spec.concurrencyPolicy === 'Replace' ? [] : active
  const job = await createJob(parts, cronJob, { dueAt, wall }, signal)
  if (job === undefined) return { status, nextTurn }
  return {
    status: {
      ...status,
      active: [...kept.filter(({ uid }) => uid !== job.metadata.uid), toReference(parts, job)],
      lastScheduleTime: toApiTime(dueAt),
    },
    nextTurn,
  }
}

async function removeActive(
  parts: CronJobs,
  cronJob: Live<CronJob>,
  active: readonly ObjectReference[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name = '', uid } of active) {
    const job = await parts.jobs.read(cronJob.metadata.namespace, name, signal)
    if (job !== undefined && job.metadata.uid === uid) await removeJob(parts, cronJob, job, signal)
  }
}

/** The Job of a time has a name of its own, so that it is made once whenever we are killed. */
async function createJob(
  { jobs, cronJobs, record }: CronJobs,
  cronJob: Live<CronJob>,
  { dueAt, wall }: { readonly dueAt: number; readonly wall: (time: number) => number },
  signal: AbortSignal,
): Promise<Live<Job> | undefined> {
  const { jobTemplate } = cronJob.spec
  const { namespace, uid } = cronJob.metadata
  const name = `${cronJob.metadata.name}-${Math.floor(dueAt / MINUTE_MS)}`
  const { labels, annotations } = jobTemplate.metadata ?? {}
  const metadata = {
    name,
    ...(labels && { labels }),
    annotations: { ...annotations, [SCHEDULED_AT]: formatInZone(dueAt, wall(dueAt)) },
    ownerReferences: [toControllerReference(cronJobs.kind, cronJob.metadata)],
  }
  try {
    const job = await jobs.create(namespace, { metadata, spec: jobTemplate.spec }, signal)
    record(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${name}`)
    return job
  } catch (error) {
    if (isAlreadyThere(error)) {
      const job = await jobs.read(namespace, name, signal)
      return job !== undefined && controllerOf(job)?.uid === uid ? job : undefined
    }
    if (!signal.aborted && !isNamespaceEnding(error))
      record(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${errorMessage(error)}`)
    throw error
  }
}

function toReference({ jobs }: CronJobs, { metadata }: Live<Job>): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion: jobs.kind.apiVersion, kind: jobs.kind.kind, namespace, name, uid, resourceVersion }
}

/** As RFC 3339 has it, with the distance of the zone from UTC. */
function formatInZone(time: number, wall: number): string {
  const minutes = Math.round((wall - time) / MINUTE_MS)
  if (minutes === 0) return toApiTime(time)
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0')
  return `${toApiTime(wall).slice(0, -1)}${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(Math.abs(minutes) % 60)}`
}

/** How a Job has ended; undefined while it has not. */
function endOfJob({ status }: Live<Job>): 'Complete' | 'Failed' | undefined {
  const found = status?.conditions?.find(
    (each) => (each.type === 'Complete' || each.type === 'Failed') && each.status === 'True',
  )
  return found?.type as 'Complete' | 'Failed' | undefined
}

/** The finished Jobs that are beyond what is kept, the oldest first. */
function computeExpiredJobs({ spec }: Live<CronJob>, jobs: readonly Live<Job>[]): readonly Live<Job>[] {
  const limits = { Complete: spec.successfulJobsHistoryLimit ?? 3, Failed: spec.failedJobsHistoryLimit ?? 1 }
  return (['Complete', 'Failed'] as const).flatMap((end) => {
    const ended = jobs.filter((job) => endOfJob(job) === end).toSorted(compareStarts)
    return ended.slice(0, Math.max(0, ended.length - limits[end]))
  })
}

/** Those that began first come first; one that never began comes last. */
function compareStarts(a: Live<Job>, b: Live<Job>): number {
  const [first, second] = [a.status?.startTime ?? '~', b.status?.startTime ?? '~']
  return first === second ? (a.metadata.name < b.metadata.name ? -1 : 1) : first < second ? -1 : 1
}
