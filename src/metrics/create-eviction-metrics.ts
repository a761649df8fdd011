import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of evictions. */
export interface EvictionMetrics {
  /** A pod was evicted for the sake of this signal, or for a limit of its own. */
  eviction(signal: string): void
  /** An eviction went by figures of this age. */
  evictionStatsAge(signal: string, seconds: number): void
}

export function createEvictionMetrics(set: MetricSet): EvictionMetrics {
  const labels = ['eviction_signal'] as const
  const total = set.counter({ name: 'kubelet_evictions', help: 'Pods that were evicted, by what was short.', labels })
  const age = set.histogram({
    name: 'kubelet_eviction_stats_age_seconds',
    help: 'How old the figures were that pods were evicted by.',
    labels,
  })
  return {
    eviction: (signal) => total.inc({ eviction_signal: signal }),
    evictionStatsAge: (signal, seconds) => age.observe({ eviction_signal: signal }, seconds),
  }
}
