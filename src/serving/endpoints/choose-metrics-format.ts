import type { MetricsFormat } from '../../base/telemetry/format-metrics.ts'

interface Desired {
  readonly type: string
  readonly version: string
  readonly weight: number
}

const TEXT = { format: 'text', contentType: 'text/plain; version=0.0.4; charset=utf-8' } as const
const OPEN = 'application/openmetrics-text'
const OPEN_VERSIONS: readonly string[] = ['0.0.1', '1.0.0']

/** The form of metrics that a scraper likes best; plain text for one that names none. */
export function chooseMetricsFormat(accept: string | undefined): {
  readonly format: MetricsFormat
  readonly contentType: string
} {
  const requested = (accept ?? '')
    .split(',')
    .map(parseRequest)
    .sort((a, b) => b.weight - a.weight)
  for (const { type, version, weight } of requested) {
    if (weight === 0) continue
    if (type === OPEN && (version === '' || OPEN_VERSIONS.includes(version)))
      return { format: 'openMetrics', contentType: `${OPEN}; version=${version || '0.0.1'}; charset=utf-8` }
    if (type === 'text/plain' && (version === '' || version === '0.0.4')) return TEXT
  }
  return TEXT
}

function parseRequest(text: string): Desired {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim().toLowerCase())
  const parameters = new Map(rest.map((part) => part.split('=') as [string, string | undefined]))
  const weight = Number(parameters.get('q') ?? 1)
  return { type, version: parameters.get('version') ?? '', weight: Number.isNaN(weight) ? 0 : weight }
}
