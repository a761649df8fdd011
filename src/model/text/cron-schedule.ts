/** When something is due, by minutes of a wall clock; undefined for what a text does not say. */
export interface CronSchedule {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** Both restricted: one of them is enough. */
  readonly isEitherDay: boolean
  /** "@every": after so many milliseconds, in place of all the others. */
  readonly everyMs?: number
}

const FIELDS = [
  { name: 'minute', least: 0, most: 59, names: [] },
  { name: 'hour', least: 0, most: 23, names: [] },
  { name: 'day of month', least: 1, most: 31, names: [] },
  {
    name: 'month',
    least: 1,
    most: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of week', least: 0, most: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
] as const

type Field = (typeof FIELDS)[number]

const SHORTHANDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000 }

/** Reads a schedule of cron; throws what is wrong with it. */
export function parseCronSchedule(text: string): CronSchedule {
  const trimmed = text.trim()
  if (/^(?:CRON_)?TZ=/.test(trimmed))
    throw new Error('cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  if (trimmed.startsWith('@every ')) return { ...parse('* * * * *'), everyMs: parseDuration(trimmed.slice(7).trim()) }
  if (!trimmed.startsWith('@')) return parse(trimmed)
  const long = SHORTHANDS[trimmed]
  if (long === undefined) throw new Error(`unrecognized descriptor: ${trimmed}`)
  return parse(long)
}

function parse(text: string): CronSchedule {
  const parts = text.split(/\s+/)
  if (parts.length !== FIELDS.length)
    throw new Error(`expected exactly 5 fields, found ${parts.length}: ${text.slice(0, 100)}`)
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => parseField(parts[index] ?? '', field))
  const empty = new Set<number>()
  return {
    minutes: minutes ?? empty,
    hours: hours ?? empty,
    days: days ?? empty,
    months: months ?? empty,
    weekdays: weekdays ?? empty,
    isEitherDay: isRestricted(parts[2]) && isRestricted(parts[4]),
  }
}

function isRestricted(part = ''): boolean {
  return !part.split(',').some((each) => /^[*?](?:\/1)?$/.test(each))
}

function parseField(text: string, field: Field): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const [, range = '', step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(part) ?? []
    const [first = '', second] = range.split('-')
    const isAll = range === '*' || range === '?'
    const from = isAll ? field.least : parseValue(first, field)
    const upTo = isAll || (step !== undefined && second === undefined) ? field.most : from
    const to = second === undefined ? upTo : parseValue(second, field)
    const by = step === undefined ? 1 : Number(step)
    if (by === 0) throw new Error(`step of range should be a positive number: ${part}`)
    if (from > to) throw new Error(`beginning of range (${from}) beyond end of range (${to}): ${part}`)
    for (let value = from; value <= to; value += by) values.add(value)
  }
  return values
}

function parseValue(text: string, { name, least, most, names }: Field): number {
  const index = (names as readonly string[]).indexOf(text.toLowerCase())
  const value = index >= 0 ? index + least : /^\d{1,4}$/.test(text) ? Number(text) : NaN
  if (value >= least && value <= most) return value
  throw new Error(`${name} must be from ${least} to ${most}, not "${text.slice(0, 20)}"`)
}

function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+)([hms])/g)]
  if (parts.map(([whole]) => whole).join('') !== text || text === '')
    throw new Error(`failed to parse duration "${text.slice(0, 50)}": expected one such as 1h30m`)
  const ms = parts.reduce((total, [, count, unit = '']) => total + Number(count) * (UNITS[unit] ?? 0), 0)
  return Math.max(1000, ms)
}
