import type { CronSchedule } from '../../../model/text/cron-schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FARTHEST = 5 * 366 * DAY

/** How late it is by a wall clock, as milliseconds that would be that late in UTC. */
export type WallClock = (time: number) => number

/** The first time after another one at which a schedule is due; undefined when there is none for years. */
export function computeNextTime(schedule: CronSchedule, after: number, wall: WallClock): number | undefined {
  if (schedule.everyMs !== undefined) return Math.floor((after + schedule.everyMs) / 1000) * 1000
  const end = after + FARTHEST
  let time = Math.floor(after / MINUTE) * MINUTE + MINUTE
  while (time < end) {
    const at = new Date(wall(time))
    const [hour, minute] = [at.getUTCHours(), at.getUTCMinutes()]
    const step = !isDay(schedule, at)
      ? toNextDay(hour, minute)
      : !schedule.hours.has(hour)
        ? (60 - minute) * MINUTE
        : schedule.minutes.has(minute)
          ? 0
          : MINUTE
    if (step === 0) return time
    time += step
  }
  return undefined
}

/** To the last hour of the day at most: where clocks are changed a day has not 24 of them. */
function toNextDay(hour: number, minute: number): number {
  return hour < 22 ? (22 - hour) * HOUR : (60 - minute) * MINUTE
}

function isDay({ days, months, weekdays, isEitherDay }: CronSchedule, at: Date): boolean {
  if (!months.has(at.getUTCMonth() + 1)) return false
  const [isInMonth, isInWeek] = [days.has(at.getUTCDate()), weekdays.has(at.getUTCDay())]
  return isEitherDay ? isInMonth || isInWeek : isInMonth && isInWeek
}

/** The clock of a zone, or of the machine. */
export function createWallClock(timeZone: string | undefined): WallClock {
  if (timeZone === undefined) return (time) => time - new Date(time).getTimezoneOffset() * MINUTE
  const numeric = 'numeric'
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
  })
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  }
}
