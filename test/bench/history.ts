import type { MedianInterval } from './compute-statistics.ts'
import { rows } from './rows.ts'
import { alignColumns, formatValue } from './table.ts'
import type { ResultRow } from './table.ts'

/** One run, as it is kept: a line of the history file. */
export interface HistoryEntry {
  /** When, in the form of ISO 8601. */
  readonly time: string
  /** What was measured: the commit where that is known. */
  readonly version: string
  readonly machine: string
  readonly rows: Readonly<Record<string, HistoryRow>>
}

interface HistoryRow {
  readonly own: MedianInterval | null
  readonly ratio: MedianInterval | null
}

/** How a row is now, beside how it was. */
export interface ComparedRow {
  readonly name: string
  readonly title: string
  readonly before: string
  readonly now: string
  /** Now divided by before, of the ratio where both runs had one, else of our own median. */
  readonly change: number
  readonly verdict: 'worse' | 'better' | 'same'
}

// What is smaller than this is no news, whatever the intervals say.
const NEWS = 0.1
// More is better for what is counted in a second.
const MORE_IS_BETTER = new Set(rows.filter(({ unit }) => unit === '/s').map(({ name }) => name))

export function toHistoryEntry(
  results: readonly ResultRow[],
  run: Pick<HistoryEntry, 'time' | 'version' | 'machine'>,
): HistoryEntry {
  const kept = results.map(({ name, own, ratio }) => [name, { own: own ?? null, ratio: ratio ?? null }])
  return { ...run, rows: Object.fromEntries(kept) as HistoryEntry['rows'] }
}

/** The last run in a history file; fails when there is none in it. */
export function parseHistory(text: string): HistoryEntry {
  const line = text.trimEnd().split('\n').at(-1) ?? ''
  try {
    const entry = JSON.parse(line) as Partial<HistoryEntry> | null
    // Infinity has no form in JSON: it is kept as null.
    if (entry !== null && typeof entry === 'object' && typeof entry.rows === 'object') return entry as HistoryEntry
  } catch {
    // Said below.
  }
  throw new Error('Cannot compare: expected a history file of the benchmark, with one run in each line')
}

/** What changed since an earlier run. A change counts when it is larger than a tenth and the intervals of both runs do not meet. */
export function compareRuns(before: HistoryEntry, now: HistoryEntry): readonly ComparedRow[] {
  return rows.flatMap((row) => {
    const [was, is] = [before.rows[row.name], now.rows[row.name]]
    const byRatio = was?.ratio && is?.ratio
    const [from, to] = byRatio ? [was.ratio, is.ratio] : [was?.own, is?.own]
    if (!from || !to || from.median === 0) return []
    const format = (value: number) => (byRatio ? `${value.toFixed(2)} ×` : formatValue(value, row.unit))
    const change = to.median / from.median
    return [
      {
        name: row.name,
        title: row.title,
        before: format(from.median),
        now: format(to.median),
        change,
        verdict: judge(from, to, MORE_IS_BETTER.has(row.name) && !byRatio),
      },
    ]
  })
}

function judge(from: MedianInterval, to: MedianInterval, moreIsBetter: boolean): ComparedRow['verdict'] {
  const change = to.median / from.median
  const meet = to.low <= from.high && from.low <= to.high
  if (meet || Math.abs(change - 1) <= NEWS) return 'same'
  return change > 1 === moreIsBetter ? 'better' : 'worse'
}

/** The comparison as a table of text. */
export function formatComparison(before: HistoryEntry, compared: readonly ComparedRow[]): string {
  const lines = compared.map(({ title, before: was, now, change, verdict }) => [
    title,
    was,
    now,
    `${((change - 1) * 100).toFixed(0)} %`,
    { worse: 'WORSE', better: 'better', same: '' }[verdict],
  ])
  const head = [`since ${before.time} (${before.version}, ${before.machine})`, 'then', 'now', 'change', '']
  return alignColumns([head, ...lines])
}
