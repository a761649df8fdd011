import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** How many metrics there are. None is ever hidden or switched off: both belong to metrics that are on their way out, and there are none. */
export function addRegistryMetrics(set: MetricSet, all: readonly MetricSet[]): void {
  set.readCounters(
    {
      name: 'registered_metrics_total',
      help: 'Metrics by stability.',
      stability: 'BETA',
      labels: ['deprecated_version', 'stability_level'],
    },
    () => {
      const counts = new Map<string, number>()
      for (const { stabilities } of all)
        for (const [level, count] of stabilities) counts.set(level, (counts.get(level) ?? 0) + count)
      return [...counts].map(([level, value]) => ({
        labels: { deprecated_version: '', stability_level: level },
        value,
      }))
    },
  )
  for (const [name, help] of [
    ['hidden_metrics_total', 'Metrics that are hidden.'],
    ['disabled_metrics_total', 'Metrics that are switched off.'],
  ] as const)
    set.readCounter({ name, help, stability: 'BETA' }, () => 0)
}
