import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** When the last graceful shutdown of the node was; seconds since the epoch, 0 for none. */
export interface ShutdownMetrics {
  shutdownStarted(seconds: number): void
  shutdownEnded(seconds: number): void
}

export function createShutdownMetrics(set: MetricSet): ShutdownMetrics {
  const started = set.gauge({
    name: 'kubelet_graceful_shutdown_start_time_seconds',
    help: 'When the last graceful shutdown of the node began, since the epoch.',
  })
  const ended = set.gauge({
    name: 'kubelet_graceful_shutdown_end_time_seconds',
    help: 'When the last graceful shutdown of the node ended, since the epoch.',
  })
  return { shutdownStarted: (seconds) => started.set(seconds), shutdownEnded: (seconds) => ended.set(seconds) }
}
