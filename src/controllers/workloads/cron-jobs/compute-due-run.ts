import type { CronJob } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'
import type { CronSchedule } from '../../../model/text/cron-schedule.ts'
import { computeNextTime } from './compute-next-time.ts'
import type { WallClock } from './compute-next-time.ts'

/** What is due of a CronJob, and when to come back. */
export interface DueRun {
  /** The latest time that has passed and was not run; those before it are given up. */
  readonly dueAt: number | undefined
  readonly nextAt: number | undefined
  /** So many were missed that a clock or a schedule may be wrong. */
  readonly isFarBehind: boolean
  /** The last one is too old to be started. */
  readonly isTooLate: boolean
}

const MANY = 100

export function computeDueRun(
  { metadata, spec, status }: Live<CronJob>,
  schedule: CronSchedule,
  wall: WallClock,
  now: number,
): DueRun {
  const { startingDeadlineSeconds } = spec
  const began = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  const deadlineMs = startingDeadlineSeconds === undefined ? undefined : Number(startingDeadlineSeconds) * 1000
  const earliest = deadlineMs === undefined ? began : Math.max(began, now - deadlineMs)
  const nextAt = computeNextTime(schedule, now, wall)
  const first = computeNextTime(schedule, earliest, wall)
  const nothing = { dueAt: undefined, nextAt, isFarBehind: false, isTooLate: false }
  if (first === undefined || first > now) return nothing
  const second = computeNextTime(schedule, first, wall)
  const missed = second === undefined ? 1 : Math.floor((now - first) / (second - first)) + 1
  const dueAt = findLatest(schedule, wall, { first, missed, step: (second ?? first) - first, now })
  const isTooLate = deadlineMs !== undefined && dueAt + deadlineMs < now
  return { dueAt: isTooLate ? undefined : dueAt, nextAt, isFarBehind: missed > MANY, isTooLate }
}

/** Walks from near the end: a schedule that was missed for years has many times. */
function findLatest(
  schedule: CronSchedule,
  wall: WallClock,
  {
    first,
    missed,
    step,
    now,
  }: { readonly first: number; readonly missed: number; readonly step: number; readonly now: number },
): number {
  let latest = first
  if (missed > MANY && schedule.everyMs === undefined) {
    // Regular or not, the last few steps show the latest time.
    for (let begin = now - 2 * step; begin > first; begin -= (now - begin) * 2) {
      const found = computeNextTime(schedule, begin, wall)
      if (found === undefined || found > now) continue
      latest = found
      break
    }
  }
  for (;;) {
    const next = computeNextTime(schedule, latest, wall)
    if (next === undefined || next > now || next <= latest) return latest
    latest = next
  }
}
