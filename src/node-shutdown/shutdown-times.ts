/** When the last graceful shutdown began and ended, in milliseconds since the epoch. */
export interface ShutdownTimes {
  readonly startedAt: number
  /** Undefined: it has not ended. */
  readonly endedAt: number | undefined
}

// What Go writes for a time that is not set.
const NO_TIME = '0001-01-01T00:00:00Z'

/** As the Go kubelet keeps it in its file. */
export function formatShutdownTimes({ startedAt, endedAt }: ShutdownTimes): string {
  const endTime = endedAt === undefined ? NO_TIME : new Date(endedAt).toISOString()
  return JSON.stringify({ startTime: new Date(startedAt).toISOString(), endTime })
}

/** Reads what either kubelet kept; undefined when it says nothing of use. */
export function parseShutdownTimes(text: string): ShutdownTimes | undefined {
  const { startTime, endTime } = JSON.parse(text) as { readonly startTime?: unknown; readonly endTime?: unknown }
  const startedAt = toMs(startTime)
  return startedAt === undefined ? undefined : { startedAt, endedAt: toMs(endTime) }
}

function toMs(time: unknown): number | undefined {
  const ms = typeof time === 'string' && time !== NO_TIME ? Date.parse(time) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
