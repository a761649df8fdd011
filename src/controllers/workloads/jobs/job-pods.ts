import type { Job } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { isActive, isTerminating } from '../pods/pod-availability.ts'

/** Keeps a pod of a Job until it was counted. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking'
export const INDEX = 'batch.kubernetes.io/job-completion-index'
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count'

/** The pods of a Job by what they mean for it. */
export interface JobPods {
  readonly active: readonly Live<Pod>[]
  readonly terminating: readonly Live<Pod>[]
  readonly succeeded: readonly Live<Pod>[]
  /** Ended without success, or, where the Job says so, about to. */
  readonly failed: readonly Live<Pod>[]
}

export function sortJobPods({ spec }: Live<Job>, pods: readonly Live<Pod>[]): JobPods {
  const isEarly = spec.podReplacementPolicy !== 'Failed'
  return {
    active: pods.filter(isActive),
    terminating: pods.filter(isTerminating),
    succeeded: pods.filter(({ status }) => status?.phase === 'Succeeded'),
    failed: pods.filter((pod) => pod.status?.phase === 'Failed' || (isEarly && isTerminating(pod))),
  }
}

export function isTracked({ metadata }: Live<Pod>): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true
}

export function isIndexed({ spec }: Live<Job>): boolean {
  return spec.completionMode === 'Indexed'
}

/** The index of a pod; undefined when it has none. */
export function indexOf({ metadata }: Live<Pod>): number | undefined {
  const text = metadata.annotations?.[INDEX] ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** How often the index of a pod had failed before it. */
export function earlierFailures({ metadata }: Live<Pod>): number {
  const text = metadata.annotations?.[INDEX_FAILURES] ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}

/** When a pod ended, as far as it says. */
export function endedAt({ status, metadata }: Live<Pod>): number {
  const times = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
    .filter((time) => !Number.isNaN(time))
  if (times.length > 0) return Math.max(...times)
  const ready = status?.conditions?.find(({ type, status: value }) => type === 'Ready' && value === 'False')
  const unready = Date.parse(ready?.lastTransitionTime ?? '')
  if (!Number.isNaN(unready)) return unready
  const deleted = Date.parse(metadata.deletionTimestamp ?? '')
  if (!Number.isNaN(deleted)) return deleted - Number(metadata.deletionGracePeriodSeconds ?? 0) * 1000
  return Date.parse(metadata.creationTimestamp ?? '')
}
