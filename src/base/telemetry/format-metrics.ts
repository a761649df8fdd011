/** How metrics are written: the text form of Prometheus, or that of OpenMetrics. */
export type MetricsFormat = 'text' | 'openMetrics'

/** A metric with all its samples. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly MetricSample[]
}

interface MetricSample {
  /** Of a histogram also with _bucket, _sum or _count at its end. */
  readonly name: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

const TYPES: Readonly<Record<MetricsFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Writes metrics, their labels in order of the alphabet. One without samples is left out. */
export function formatMetrics(
  families: readonly MetricFamily[],
  format: MetricsFormat,
): { readonly type: string; readonly body: string } {
  const blocks = families
    .filter(({ samples }) => samples.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((family) => formatFamily(family, format))
  return { type: TYPES[format], body: `${blocks.join('')}${format === 'openMetrics' ? '# EOF\n' : ''}` }
}

function formatFamily({ name, help, type, samples }: MetricFamily, format: MetricsFormat): string {
  const isOpen = format === 'openMetrics'
  // There a counter is called what it counts, and its samples end in _total.
  const shown = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name
  const escapedHelp = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  let text = `# HELP ${shown} ${isOpen ? escapedHelp.replaceAll('"', '\\"') : escapedHelp}\n# TYPE ${shown} ${type}\n`
  for (const { name: sampleName, labels, value } of samples) {
    const line = isOpen && type === 'counter' ? `${shown}_total` : sampleName
    text += `${line}${formatLabels(labels, isOpen)} ${formatNumber(value)}\n`
  }
  return text
}

function formatLabels(labels: MetricSample['labels'], isOpen: boolean): string {
  let text = ''
  for (const name of Object.keys(labels).sort()) {
    const value = labels[name] ?? ''
    text += `${text === '' ? '{' : ','}${name}="${escapeLabel(name === 'le' ? formatBound(value, isOpen) : String(value))}"`
  }
  return text === '' ? '' : `${text}}`
}

/** OpenMetrics wants to see that a bound is no whole number by chance. */
function formatBound(bound: string | number, isOpen: boolean): string {
  const text = typeof bound === 'number' ? formatNumber(bound) : bound
  return isOpen && /^-?\d+$/.test(text) ? `${text}.0` : text
}

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : `${value < 0 ? '-' : '+'}Inf`
}

function escapeLabel(text: string): string {
  return /["\\\n]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"') : text
}
