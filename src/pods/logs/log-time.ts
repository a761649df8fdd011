/** A point in time as exact as logs have it. */
export interface LogTime {
  /** Since the epoch. */
  readonly seconds: number
  readonly nanoseconds: number
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/

/** Reads a time in the form of RFC 3339; undefined when it is none. */
export function parseLogTime(text: string): LogTime | undefined {
  const [, second = '', fraction = '', zone = ''] = TIME.exec(text) ?? []
  const ms = Date.parse(`${second}${zone}`)
  if (Number.isNaN(ms)) return undefined
  return { seconds: ms / 1000, nanoseconds: Number(toNineDigits(fraction)) }
}

/** The same time with exactly nine digits behind the point, as kubectl shows it; undefined when it is no time. */
export function formatLogTime(text: string): string | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, second = '', fraction = '', zone = ''] = match
  return `${second}.${toNineDigits(fraction)}${zone === '+00:00' || zone === '-00:00' ? 'Z' : zone}`
}

export function isBefore(time: LogTime, other: LogTime): boolean {
  return time.seconds === other.seconds ? time.nanoseconds < other.nanoseconds : time.seconds < other.seconds
}

/** From milliseconds since the epoch. */
export function toLogTime(ms: number): LogTime {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanoseconds: Math.round((ms - seconds * 1000) * 1_000_000) }
}

function toNineDigits(fraction: string): string {
  return fraction.slice(0, 9).padEnd(9, '0')
}
