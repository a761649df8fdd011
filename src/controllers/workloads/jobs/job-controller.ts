import { sameStatus } from '../../engine/same-status.ts'
import type { Job, JobStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import { claimChildren, toControllerReference } from '../ownership/claim-children.ts'
import { isNamespaceEnding } from '../../engine/api-objects.ts'
import { createController, createQueue, queueChanges, queueOwners, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { keyOf } from '../../engine/live-object.ts'
import type { Live, LiveMeta } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { runInBatches } from '../../engine/run-in-batches.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { PodControl } from '../pods/pod-control.ts'
import { findFinish } from './compute-job-decision.ts'
import { computeJobPlan } from './compute-job-plan.ts'
import type { JobPlan } from './compute-job-plan.ts'
import { isTracked, TRACKING_FINALIZER, endedAt, sortJobPods } from './job-pods.ts'
import { newJobPod } from './new-job-pod.ts'

interface Jobs extends Pick<ControllerDeps, 'clock' | 'pods' | 'jobs'> {
  readonly control: PodControl
  readonly record: RecordEvent
  readonly failures: JobFailures
}

const MANAGER = 'kubernetes.io/job-controller'

/** Runs pods until enough of them have succeeded. */
export function createJobController(deps: ControllerDeps): Controller {
  const { pods, jobs } = deps
  const queue = createQueue('jobs', deps)
  queueChanges(queue, jobs)
  queueOwners(queue, pods, jobs, (job, pod) => matches(job, pod))
  const record = createObjectEvents(deps.record, 'job-controller', jobs.kind)
  const parts: Jobs = { ...deps, record, control: new PodControl(pods, record), failures: new JobFailures() }
  jobs.known.onChange((after, before) => {
    if (after === undefined && before !== undefined) parts.failures.forget(before.metadata.uid)
  })
  return createController({
    name: 'jobs',
    queue,
    reads: [pods, jobs],
    reconcile: reconcileKnown(jobs, async (job, signal) => {
      if (!isOurs(job)) return undefined
      const finished = findFinish(job)
      return finished === undefined
        ? await reconcile(parts, job, signal)
        : await expire(parts, job, finished.lastTransitionTime, signal)
    }),
  })
}

/** Whether a Job is ours to act on. */
function isOurs({ spec }: Live<Job>): boolean {
  return spec.managedBy === undefined || spec.managedBy === MANAGER
}

async function reconcile(parts: Jobs, job: Live<Job>, signal: AbortSignal): Promise<NextTurn> {
  const { clock, pods, jobs } = parts
  const own = await claimChildren(
    { owners: jobs, owner: job, children: pods, matches: (pod) => matches(job, pod), alter: TRACKING },
    signal,
  )
  const now = clock.now()
  const plan = computeJobPlan({ job, pods: own, failures: parts.failures.observe(job, own), now })
  const written = await writeStatus(parts, job, plan.status, signal)
  await apply(parts, written, plan, signal)
  return plan.afterMs === undefined ? undefined : { afterMs: plan.afterMs }
}

const TRACKING = {
  adopted: ({ finalizers = [] }: LiveMeta) => ({ finalizers: [...new Set([...finalizers, TRACKING_FINALIZER])] }),
  released: withoutTracking,
}

function withoutTracking({ finalizers = [] }: LiveMeta) {
  return { finalizers: finalizers.filter((each) => each !== TRACKING_FINALIZER) }
}

async function writeStatus(parts: Jobs, job: Live<Job>, status: JobStatus, signal: AbortSignal): Promise<Live<Job>> {
  if (sameStatus(status, job.status)) return job
  const written = await parts.jobs.updateStatus({ ...job, status }, signal)
  recordChange(parts.record, job, status)
  return written
}

function recordChange(record: RecordEvent, job: Live<Job>, { conditions = [] }: JobStatus): void {
  const before = new Map((job.status?.conditions ?? []).map(({ type, status }) => [type, status]))
  for (const { type, status, reason = '', message = '' } of conditions) {
    if (before.get(type) === status) continue
    if (type === 'Complete') record(job, 'Normal', 'Completed', 'Job completed')
    if (type === 'Failed') record(job, 'Warning', reason, message)
    if (type === 'Suspended') record(job, 'Normal', status === 'True' ? 'Suspended' : 'Resumed', message)
  }
}

async function apply({ pods, jobs, control }: Jobs, job: Live<Job>, plan: JobPlan, signal: AbortSignal): Promise<void> {
  for (const pod of new Set(plan.release)) {
    const fresh = pods.known.get(pod.metadata.namespace, pod.metadata.name)
    if (fresh === undefined || fresh.metadata.uid !== pod.metadata.uid || !isTracked(fresh)) continue
    await pods.patch(fresh, { metadata: withoutTracking(fresh.metadata) }, signal)
  }
  for (const pod of plan.remove) await control.remove(job, pod, signal)
  const reference = toControllerReference(jobs.kind, job.metadata)
  const { error } = await runInBatches(plan.create.length, async (index) => {
    const wanted = plan.create[index]
    if (wanted !== undefined) await control.create(job, newJobPod(job, reference, wanted), signal)
  })
  if (error !== undefined && !isNamespaceEnding(error)) throw error
}

/** A finished Job goes after its time, with its pods. */
async function expire(
  { clock, jobs }: Jobs,
  job: Live<Job>,
  finishedAt: string | undefined,
  signal: AbortSignal,
): Promise<NextTurn> {
  const { ttlSecondsAfterFinished } = job.spec
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp !== undefined) return undefined
  const leftMs = Date.parse(finishedAt ?? '') + ttlSecondsAfterFinished * 1000 - clock.now()
  if (leftMs > 0) return { afterMs: leftMs }
  await jobs.remove(job, { propagationPolicy: 'Foreground' }, signal)
  return undefined
}

/** Lets pods go that no living Job will count. */
export function createJobOrphanController(deps: ControllerDeps): Controller {
  const { pods, jobs } = deps
  const queue = createQueue('job-pods', deps)
  const check = (pod: Live<Pod> | undefined) => {
    if (pod !== undefined && isTracked(pod)) queue.add(keyOf(pod))
  }
  pods.known.onChange((after) => check(after))
  jobs.known.onChange((after, before) => {
    const job = after ?? before
    if (job === undefined || (after !== undefined && findFinish(after) === undefined)) return
    pods.known.controlledBy(job.metadata.namespace, job.metadata.uid).forEach(check)
  })
  return createController({
    name: 'job-pods',
    queue,
    reads: [pods, jobs],
    reconcile: reconcileKnown(pods, async (pod, signal) => {
      if (!isTracked(pod) || (await hasLivingJob(deps, pod, signal))) return undefined
      await pods.patch(pod, { metadata: withoutTracking(pod.metadata) }, signal)
      return undefined
    }),
  })
}

async function hasLivingJob({ jobs }: ControllerDeps, pod: Live<Pod>, signal: AbortSignal): Promise<boolean> {
  const controller = pod.metadata.ownerReferences?.find((each) => each.controller === true && each.kind === 'Job')
  if (controller === undefined) return false
  const { namespace } = pod.metadata
  const job = jobs.known.get(namespace, controller.name) ?? (await jobs.read(namespace, controller.name, signal))
  if (job?.metadata.uid !== controller.uid) return false
  return !isOurs(job) || findFinish(job) === undefined
}

function matches({ spec }: Live<Job>, { metadata }: Live<Pod>): boolean {
  return matchesLabelSelector(spec.selector, metadata.labels ?? {})
}

/** When the pods of Jobs failed, also of those that are gone since; the wait before the next try depends on it. Only in memory, as upstream. */
class JobFailures {
  readonly #jobs = new Map<string, { readonly failures: Map<string, number>; succeededAt: number }>()

  /** Takes note of the pods as they are; gives when those ended that failed since the last success. */
  observe(job: Live<Job>, pods: readonly Live<Pod>[]): readonly number[] {
    const known = this.#jobs.get(job.metadata.uid) ?? { failures: new Map<string, number>(), succeededAt: 0 }
    this.#jobs.set(job.metadata.uid, known)
    const { succeeded, failed } = sortJobPods(job, pods)
    for (const pod of succeeded) known.succeededAt = Math.max(known.succeededAt, endedAt(pod))
    // One without its finalizer was counted before, or is given up without being counted.
    for (const pod of failed.filter(isTracked))
      if (!known.failures.has(pod.metadata.uid)) known.failures.set(pod.metadata.uid, endedAt(pod))
    return [...known.failures.values()].filter((time) => time > known.succeededAt)
  }

  forget(uid: string): void {
    this.#jobs.delete(uid)
  }
}
