/** One metric and its values, as a scraper gets it. */
export interface StatsFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly samples: readonly MetricSample[]
}

export interface MetricSample {
  /** As formatLabels() writes them. */
  readonly labels: string
  readonly value: number
  /** When it was measured, in milliseconds since the epoch. */
  readonly time?: number
}

/** Names in their order, values escaped: container="main",pod="web". */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escapeLabel(labels[name] ?? '')}"`)
    .join(',')
}

function escapeLabel(value: string): string {
  return /["\\\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value
}
