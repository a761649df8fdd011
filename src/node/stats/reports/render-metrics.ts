import { nextTurn } from '../../../base/async/next-turn.ts'
import type { MetricsFormat } from '../../../base/telemetry/format-metrics.ts'
import type { StatsFamily, MetricSample } from './stats-family.ts'

// So many lines are written in about a millisecond.
const LINES_AT_A_TIME = 500

/** Writes metrics; large ones in pieces, so that other work runs in between. */
export async function renderMetrics(families: Iterable<StatsFamily>, format: MetricsFormat): Promise<string> {
  const pieces: string[] = []
  let lines = 0
  for (const family of families) {
    if (family.samples.length === 0) continue
    pieces.push(format === 'text' ? renderFamily(family) : renderOpenFamily(family))
    lines += family.samples.length
    if (lines < LINES_AT_A_TIME) continue
    lines = 0
    await nextTurn()
  }
  if (format === 'openMetrics') pieces.push('# EOF\n')
  return pieces.join('')
}

function renderFamily({ name, help, type, samples }: StatsFamily): string {
  const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
  return head + samples.map((sample) => line(name, sample, timeInMilliseconds)).join('')
}

/** There, names of counters have no _total, and their samples have it. What cannot be expressed so gets an unknown type. */
function renderOpenFamily({ name, help, type, samples }: StatsFamily): string {
  const isTotal = type === 'counter' && name.endsWith('_total')
  const family = isTotal ? name.slice(0, -'_total'.length) : name
  const kind = type === 'counter' && !isTotal ? 'unknown' : type
  const head = `# HELP ${family} ${escapeHelp(help).replaceAll('"', '\\"')}\n# TYPE ${family} ${kind}\n`
  return head + samples.map((sample) => line(name, sample, timeInSeconds)).join('')
}

function line(name: string, { labels, value, time }: MetricSample, format: (time: number) => string): string {
  const set = labels === '' ? '' : `{${labels}}`
  return `${name}${set} ${formatValue(value)}${time === undefined ? '' : ` ${format(time)}`}\n`
}

function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

function timeInMilliseconds(time: number): string {
  return String(Math.round(time))
}

function timeInSeconds(time: number): string {
  return (Math.round(time) / 1000).toFixed(3)
}

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
