import type { LogOptions } from './parse-node-log-query.ts'

/** The arguments of journalctl for the lines of some services. */
export function toJournalArguments(services: readonly string[], options: LogOptions): readonly string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = options
  return [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    ...(sinceTime === undefined ? [] : [`--since=${toJournalTime(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${toJournalTime(untilTime)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : ['--boot', String(boot)]),
  ]
}

function toJournalTime(time: Date): string {
  const date = [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate()].join('-')
  return `${date} ${[time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].join(':')}`
}
