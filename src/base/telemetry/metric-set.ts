import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { formatMetrics } from './format-metrics.ts'
import type { MetricFamily, MetricsFormat } from './format-metrics.ts'

/** How much others may rely on a metric; shown at the beginning of its help. */
export type Stability = 'STABLE' | 'BETA' | 'ALPHA' | 'INTERNAL'

/** What all kinds of metrics have. */
export interface MetricDefinition<Label extends string> {
  readonly name: string
  readonly help: string
  /** ALPHA when not said. */
  readonly stability?: Stability
  readonly labels?: readonly Label[]
}

/** One value of a metric that is read at each scrape. */
export interface MetricRow<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>
  readonly value: number
}

/** Metrics that are shown together. */
export class MetricSet {
  readonly #registry = new Registry()
  readonly #stabilities: Stability[] = []

  counter<Label extends string = never>(definition: MetricDefinition<Label>): Counter<Label> {
    return new Counter(this.#options(definition))
  }

  gauge<Label extends string = never>(definition: MetricDefinition<Label>): Gauge<Label> {
    return new Gauge(this.#options(definition))
  }

  /** Without buckets it has those that suit times of calls. */
  histogram<Label extends string = never>(
    definition: MetricDefinition<Label> & { readonly buckets?: readonly number[] },
  ): Histogram<Label> {
    const { buckets } = definition
    return new Histogram({
      ...this.#options(definition),
      ...(buckets === undefined ? {} : { buckets: [...buckets] }),
    })
  }

  /** A gauge whose rows are read at each scrape; a row that is gone has no value any more. */
  read<Label extends string = never>(
    definition: MetricDefinition<Label>,
    read: () => readonly MetricRow<Label>[],
  ): void {
    const metric: Gauge = new Gauge({
      ...this.#options(definition),
      collect() {
        metric.reset()
        if ((definition.labels ?? []).length === 0) metric.remove()
        for (const { labels, value } of read()) metric.set(labels, value)
      },
    })
  }

  /** The same for a single value. */
  readOne(definition: MetricDefinition<never>, read: () => number): void {
    this.read(definition, () => [{ labels: {}, value: read() }])
  }

  /** The same for one that only ever grows. */
  readCounter(definition: MetricDefinition<never>, read: () => number): void {
    this.readCounters(definition, () => [{ labels: {}, value: read() }])
  }

  readCounters<Label extends string = never>(
    definition: MetricDefinition<Label>,
    read: () => readonly MetricRow<Label>[],
  ): void {
    // Nothing else refers to it: it lives in its registry.
    void new Counter({
      ...this.#options(definition),
      collect() {
        this.reset()
        for (const { labels, value } of read()) this.inc(labels, value)
      },
    })
  }

  /** How many metrics there are of each stability. */
  get stabilities(): ReadonlyMap<Stability, number> {
    const counts = new Map<Stability, number>()
    for (const each of this.#stabilities) counts.set(each, (counts.get(each) ?? 0) + 1)
    return counts
  }

  reset(): void {
    this.#registry.resetMetrics()
  }

  async render(format: MetricsFormat): Promise<{ readonly type: string; readonly body: string }> {
    const metrics = await this.#registry.getMetricsAsJSON()
    return formatMetrics(metrics.map(toFamily), format)
  }

  #options<Label extends string>({ name, help, stability = 'ALPHA', labels = [] }: MetricDefinition<Label>) {
    this.#stabilities.push(stability)
    return { name, help: `[${stability}] ${help}`, labelNames: [...labels], registers: [this.#registry] }
  }
}

type JsonMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]

function toFamily({ name, help, type, values }: JsonMetric): MetricFamily {
  return {
    name,
    help,
    type: String(type) as MetricFamily['type'],
    samples: values.map((value) => ({
      name: 'metricName' in value ? String(value.metricName) : name,
      labels: value.labels as Readonly<Record<string, string | number>>,
      value: value.value,
    })),
  }
}
