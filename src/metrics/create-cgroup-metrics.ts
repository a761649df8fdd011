import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is timed of cgroups. */
export interface CgroupMetrics {
  cgroupWork(operation: 'create' | 'update' | 'destroy', seconds: number): void
}

export function createCgroupMetrics(set: MetricSet): CgroupMetrics {
  const durations = set.histogram({
    name: 'kubelet_cgroup_manager_duration_seconds',
    help: 'How long it takes to make, change or remove a cgroup.',
    labels: ['operation_type'],
  })
  return { cgroupWork: (operation, seconds) => durations.observe({ operation_type: operation }, seconds) }
}
