import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of health checks. */
export interface HealthMetrics {
  healthChecked(name: string, isHealthy: boolean): void
}

export function createHealthMetrics(set: MetricSet): HealthMetrics {
  const type = 'healthz'
  const last = set.gauge({
    name: 'kubernetes_healthcheck',
    help: 'The result of the last health check: 1 is healthy.',
    stability: 'STABLE',
    labels: ['name', 'type'],
  })
  const total = set.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks by result.',
    stability: 'STABLE',
    labels: ['name', 'status', 'type'],
  })
  return {
    healthChecked(name, isHealthy) {
      last.set({ name, type }, Number(isHealthy))
      total.inc({ name, type, status: isHealthy ? 'success' : 'error' })
    },
  }
}
