import type { MetricSet } from '../base/telemetry/metric-set.ts'

export type PlacementCounters = ReturnType<typeof createPlacementCounters>

/** What is counted in the same way of all that containers get for themselves. */
export function createPlacementCounters(set: MetricSet) {
  const boundaries = ['boundary', 'scope'] as const
  const sources = ['resource_name', 'source'] as const
  return {
    aligned: set.counter({
      name: 'kubelet_container_aligned_compute_resources_count',
      help: 'Containers, or pods, whose resources are whole cores, or of one cache or NUMA node.',
      labels: boundaries,
    }),
    unaligned: set.counter({
      name: 'kubelet_container_aligned_compute_resources_failure_count',
      help: 'Those that were to get such resources and got none.',
      labels: boundaries,
    }),
    allocations: set.counter({
      name: 'resource_manager_allocations_total',
      help: 'What was given away.',
      labels: sources,
    }),
    failures: set.counter({
      name: 'resource_manager_allocation_errors_total',
      help: 'What could not be given away.',
      labels: sources,
    }),
    assignments: set.counter({
      name: 'resource_manager_container_assignments',
      help: 'Containers by what was given to them.',
      labels: ['assignment_type', 'resource_name'],
    }),
  }
}
