/** When the last graceful shutdown began and ended, in milliseconds since the epoch. */
export interface ShutdownTimes {
  readonly startedAt: number
  /** Undefined: it has not ended. */
  readonly endedAt: number | undefined
  /** Only this file knows of it: logind announces its own shutdowns again. */
  readonly isByCommand: boolean
}

// What Go writes for a time that is not set.
const NO_TIME = '0001-01-01T00:00:00Z'

/** As the Go kubelet keeps it in its file. */
export function formatShutdownTimes({ startedAt, endedAt, isByCommand }: ShutdownTimes): string {
  const endTime = endedAt === undefined ? NO_TIME : new Date(endedAt).toISOString()
  return JSON.stringify({
    startTime: new Date(startedAt).toISOString(),
    endTime,
    ...(isByCommand && { byCommand: true }),
  })
}

/** Reads what either kubelet kept; undefined when it says nothing of use. */
export function parseShutdownTimes(text: string): ShutdownTimes | undefined {
  const { startTime, endTime, byCommand } = JSON.parse(text) as Readonly<Record<string, unknown>>
  const startedAt = toMs(startTime)
  return startedAt === undefined ? undefined : { startedAt, endedAt: toMs(endTime), isByCommand: byCommand === true }
}

/** A shutdown by command during which the agent was killed. One from before the last boot does not count: the machine did shut down. */
export function isInterrupted(times: ShutdownTimes | undefined, bootedAt: number | undefined): boolean {
  return times?.isByCommand === true && times.endedAt === undefined && times.startedAt >= (bootedAt ?? Infinity)
}

function toMs(time: unknown): number | undefined {
  const ms = typeof time === 'string' && time !== NO_TIME ? Date.parse(time) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
