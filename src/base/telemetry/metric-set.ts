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
  readonly #readers: (() => MetricFamily)[] = []
  readonly #stabilities: Stability[] = []
  #scrape = 0

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

  /** A gauge whose rows are read at each scrape; a row that is gone has no value any more. Of rows with the same labels the last one counts. */
  read<Label extends string = never>(
    definition: MetricDefinition<Label>,
    read: () => readonly MetricRow<Label>[],
  ): void {
    this.#addReader('gauge', definition, read)
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
    this.#addReader('counter', definition, read)
  }

  /** The same value for all that read it during one scrape. */
  oncePerScrape<T>(compute: () => T): () => T {
    let known: { readonly scrape: number; readonly value: T } | undefined
    return () => {
      if (known?.scrape !== this.#scrape) known = { scrape: this.#scrape, value: compute() }
      return known.value
    }
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
    this.#scrape += 1
    const readers = this.#readers.map((read) => read())
    const counted = await this.#registry.getMetricsAsJSON()
    return formatMetrics([...readers, ...counted.map(toFamily)], format)
  }

  /** Not kept in the registry: it would keep each row by a key made of its labels, from one scrape to the next. */
  #addReader<Label extends string>(
    type: 'counter' | 'gauge',
    definition: MetricDefinition<Label>,
    read: () => readonly MetricRow<Label>[],
  ): void {
    const { name, help, labelNames } = this.#options(definition)
    const toKey = ({ labels }: MetricRow<Label>) => labelNames.map((label) => labels[label]).join('\0')
    this.#readers.push(() => {
      const rows = new Map(read().map((row) => [toKey(row), row]))
      return { name, help, type, samples: [...rows.values()].map(({ labels, value }) => ({ name, labels, value })) }
    })
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
