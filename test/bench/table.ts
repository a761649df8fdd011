import { computeMedian, computeMedianInterval, computeRatioInterval, createChance } from './compute-statistics.ts'
import type { MedianInterval } from './compute-statistics.ts'
import { rows } from './rows.ts'
import type { Row, Samples } from './rows.ts'

/** What one kubelet measured. */
export interface Measured {
  readonly label: string
  readonly samples: Samples
}

/** One row of the result, ready to print or to keep as JSON. */
export interface ResultRow extends Row {
  readonly medians: readonly (number | undefined)[]
  /** Ours, with its interval. */
  readonly own: MedianInterval | undefined
  /** Ours divided by the other's. */
  readonly ratio: MedianInterval | undefined
  /** What the runtime alone takes. */
  readonly least: number | undefined
  readonly reached: boolean | undefined
}

/** A median is known well enough when its interval reaches no farther than this part of it to each side. */
const ENOUGH = 0.05

// Any will do: it makes results repeatable.
const SEED = 20

/** Puts the kubelets side by side; the first is ours, the second, when there is one, what it is compared with. */
export function computeResults(kubelets: readonly Measured[]): readonly ResultRow[] {
  const [ours = { label: '', samples: {} }, other] = kubelets
  return rows.flatMap((row) => {
    const medians = kubelets.map(({ samples }) => computeMedian(samples[row.name] ?? []))
    if (medians.every((value) => value === undefined)) return []
    const own = computeMedianInterval(ours.samples[row.name] ?? [])
    const ratio =
      other && computeRatioInterval(ours.samples[row.name] ?? [], other.samples[row.name] ?? [], createChance(SEED))
    const least = row.floor === undefined ? undefined : computeMedian(ours.samples[row.floor] ?? [])
    const reached = isReached(row, ratio, medians[0])
    return [{ ...row, medians, own, ratio, least, reached }]
  })
}

function isReached(
  { aim, limit }: Row,
  ratio: MedianInterval | undefined,
  own: number | undefined,
): boolean | undefined {
  if (limit !== undefined && own !== undefined) return own <= limit
  return ratio === undefined || aim === undefined ? undefined : ratio.median <= aim
}

/** The rows that are not known well enough: of those that are compared the ratio counts, else our own median. Rows without an aim are for information. */
export function listUncertain(results: readonly ResultRow[]): readonly string[] {
  return results
    .filter(({ aim }) => aim !== undefined)
    .filter(({ ratio, own }) => ((ratio ?? own)?.spread ?? 0) > ENOUGH)
    .map(({ name }) => name)
}

/** The results as a table of text. */
export function formatTable(labels: readonly string[], results: readonly ResultRow[]): string {
  const compared = labels.length > 1
  return alignColumns([
    ['measure (median)', ...labels, 'floor', ...(compared ? ['ratio', '95 %', 'aim', ''] : ['± ', 'aim', ''])],
    ...results.map((result) => [
      result.title,
      ...result.medians.map((value) => formatValue(value, result.unit)),
      result.least === undefined ? '' : formatValue(result.least, result.unit),
      ...(compared
        ? [
            formatRatio(result.ratio?.median),
            formatInterval(result.ratio),
            formatAim(result),
            formatReached(result.reached),
          ]
        : [
            formatSpread(result.own),
            ...(result.limit === undefined ? [] : [formatAim(result), formatReached(result.reached)]),
          ]),
    ]),
  ])
}

/** Lines of cells as text; all but the first column are to the right. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0, column > 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function formatValue(value: number | undefined, unit: Row['unit']): string {
  if (value === undefined) return '–'
  const digits = { s: 3, '%': 2, MB: value < 1 ? 3 : 1, '/s': value < 10 ? 1 : 0, '×': 2, '': 0 }[unit]
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`
}

function pad(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width)
}

function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? '–' : `${ratio.toFixed(2)} ×`
}

function formatInterval(interval: MedianInterval | undefined): string {
  if (interval === undefined) return ''
  return `${interval.low.toFixed(2)}–${interval.high.toFixed(2)}${interval.spread > ENOUGH ? ' ?' : ''}`
}

function formatSpread(interval: MedianInterval | undefined): string {
  if (interval === undefined || interval.spread === Infinity) return ''
  return `${(interval.spread * 100).toFixed(1)} %`
}

function formatAim({ aim, limit, unit }: Pick<Row, 'aim' | 'limit' | 'unit'>): string {
  if (limit !== undefined) return `≤ ${limit} ${unit}`
  return aim === undefined ? '' : `≤ ${aim} ×`
}

function formatReached(reached: boolean | undefined): string {
  return reached === undefined ? '' : reached ? 'ok' : 'MISSED'
}
