import { isRecord } from '../../base/document/is-record.ts'

/** When the last graceful shutdown began and ended, in milliseconds since the epoch. */
export interface ShutdownTimes {
  readonly startedAt: number
  /** Undefined: it has not ended. */
  readonly endedAt: number | undefined
  /** Only this file knows of it: logind announces its own shutdowns again. */
  readonly isByCommand: boolean
  /** The groups of pods that have begun to end. */
  readonly groups: readonly GroupTime[]
}

/** When the time of a group of pods is up. */
export interface GroupTime {
  readonly priority: number
  /** On the monotonic clock, which goes on from one agent to the next until the machine is started again. */
  readonly endsAt: number
}

// What Go writes for a time that is not set.
const NO_TIME = '0001-01-01T00:00:00Z'

/** As the Go kubelet keeps it in its file. */
export function formatShutdownTimes({ startedAt, endedAt, isByCommand, groups }: ShutdownTimes): string {
  const endTime = endedAt === undefined ? NO_TIME : new Date(endedAt).toISOString()
  return JSON.stringify({
    startTime: new Date(startedAt).toISOString(),
    endTime,
    ...(isByCommand && { byCommand: true }),
    ...(groups.length > 0 && { groups }),
  })
}

/** Reads what either kubelet kept; undefined when it says nothing of use. */
export function parseShutdownTimes(text: string): ShutdownTimes | undefined {
  const { startTime, endTime, byCommand, groups } = JSON.parse(text) as Readonly<Record<string, unknown>>
  const startedAt = toMs(startTime)
  if (startedAt === undefined) return undefined
  return { startedAt, endedAt: toMs(endTime), isByCommand: byCommand === true, groups: parseGroups(groups) }
}

/** The Go kubelet keeps none. */
function parseGroups(value: unknown): readonly GroupTime[] {
  return (Array.isArray(value) ? value : []).flatMap((each: unknown) => {
    const { priority, endsAt } = isRecord(each) ? each : {}
    return typeof priority === 'number' && typeof endsAt === 'number' ? [{ priority, endsAt }] : []
  })
}

/** A shutdown by command during which the agent was killed. */
export function isInterrupted(times: ShutdownTimes | undefined, bootedAt: number | undefined): boolean {
  return times?.isByCommand === true && isUnfinished(times, bootedAt)
}

/** A shutdown during which the agent was killed. One from before the last boot does not count: the machine did shut down. */
export function isUnfinished({ startedAt, endedAt }: ShutdownTimes, bootedAt: number | undefined): boolean {
  return endedAt === undefined && startedAt >= (bootedAt ?? Infinity)
}

function toMs(time: unknown): number | undefined {
  const ms = typeof time === 'string' && time !== NO_TIME ? Date.parse(time) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
