import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of traces. */
export interface TracingMetrics {
  spansExported(count: number): void
  /** Nobody took them: the collector was away, or slower than they came. */
  spansDropped(count: number): void
}

export function createTracingMetrics(set: MetricSet): TracingMetrics {
  const exported = set.counter({ name: 'deckhand_spans_exported_total', help: 'Spans that the collector took.' })
  const dropped = set.counter({ name: 'deckhand_spans_dropped_total', help: 'Spans that no collector took.' })
  return { spansExported: (count) => exported.inc(count), spansDropped: (count) => dropped.inc(count) }
}
