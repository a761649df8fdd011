import { median, rows } from './rows.ts'
import type { Row, Samples } from './rows.ts'

/** What one kubelet measured. */
export interface Measured {
  readonly label: string
  readonly samples: Samples
}

/** One row of the result, ready to print or to keep as JSON. */
export interface ResultRow extends Row {
  readonly medians: readonly (number | undefined)[]
  /** Ours divided by the other's. */
  readonly ratio: number | undefined
  readonly reached: boolean | undefined
}

/** Puts the kubelets side by side; the first is ours, the second, when there is one, what it is compared with. */
export function computeResults(kubelets: readonly Measured[]): readonly ResultRow[] {
  return rows.flatMap((row) => {
    const medians = kubelets.map(({ samples }) => median(samples[row.name] ?? []))
    if (medians.every((value) => value === undefined)) return []
    const [ours, other] = medians
    const ratio = ours === undefined || other === undefined || other === 0 ? undefined : ours / other
    const reached = ratio === undefined || row.aim === undefined ? undefined : ratio <= row.aim
    return [{ ...row, medians, ratio, reached }]
  })
}

/** The results as a table of text. */
export function formatTable(labels: readonly string[], results: readonly ResultRow[]): string {
  const compared = labels.length > 1
  const lines = [
    ['measure (median)', ...labels, ...(compared ? ['ratio', 'aim', ''] : [])],
    ...results.map((result) => [
      result.title,
      ...result.medians.map((value) => formatValue(value, result.unit)),
      ...(compared ? [formatRatio(result.ratio), formatAim(result.aim), formatReached(result.reached)] : []),
    ]),
  ]
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

function pad(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width)
}

function formatValue(value: number | undefined, unit: Row['unit']): string {
  if (value === undefined) return '–'
  const digits = { s: 3, '%': 2, MB: 1, '/s': 0, '': 0 }[unit]
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`
}

function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? '–' : `${ratio.toFixed(2)} ×`
}

function formatAim(aim: number | undefined): string {
  return aim === undefined ? '' : `≤ ${aim} ×`
}

function formatReached(reached: boolean | undefined): string {
  return reached === undefined ? '' : reached ? 'ok' : 'MISSED'
}
