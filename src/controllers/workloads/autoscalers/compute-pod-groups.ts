import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'

/** What a pod, or one of its containers, used of a resource. */
export interface PodSample {
  /** In thousandths of the resource's unit. */
  readonly value: bigint
  /** When it was measured, and over how long; both in milliseconds. */
  readonly time: number
  readonly windowMs: number
}

export interface PodGroups {
  /** Pods whose usage counts. */
  readonly ready: readonly string[]
  /** Pods whose usage says nothing yet. */
  readonly unready: readonly string[]
  /** Pods that should have been measured and were not. */
  readonly missing: readonly string[]
}

// A pod may use much CPU until it is ready, and for a while after.
const CPU_INITIALIZATION_MS = 300_000
// A pod that is first reported unready so soon after its start has never been ready.
const INITIAL_READINESS_MS = 30_000

/** Which pods count, by name. Those that are being deleted or have failed are in no group. */
export function computePodGroups(
  pods: readonly Live<Pod>[],
  samples: ReadonlyMap<string, PodSample>,
  resource: string,
  now: number,
): PodGroups {
  const ready: string[] = []
  const unready: string[] = []
  const missing: string[] = []
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Failed') continue
    const sample = samples.get(name)
    if ((pod.status?.phase ?? 'Pending') === 'Pending') unready.push(name)
    else if (sample === undefined) missing.push(name)
    else if (resource === 'cpu' && !isSettled(pod, sample, now)) unready.push(name)
    else ready.push(name)
  }
  return { ready, unready, missing }
}

/** Whether the CPU that a pod used is that of its work, and not that of its start. */
function isSettled({ status }: Live<Pod>, { time, windowMs }: PodSample, now: number): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready')
  if (condition === undefined || status?.startTime === undefined) return false
  const startedAt = Date.parse(status.startTime)
  const changedAt = Date.parse(condition.lastTransitionTime ?? status.startTime)
  const isUnready = condition.status === 'False'
  if (startedAt + CPU_INITIALIZATION_MS > now) return !isUnready && time >= changedAt + windowMs
  return !(isUnready && startedAt + INITIAL_READINESS_MS > changedAt)
}
