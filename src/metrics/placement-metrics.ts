import type { PlacementCounters } from './create-placement-counters.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of where pods get their resources. */
export interface PlacementMetrics {
  /** A pod was looked at. */
  podPlaced(placed: { readonly milliseconds: number; readonly failed: boolean }): void
  /** What had to come from one NUMA node did, or could not. */
  placementAligned(scope: 'container' | 'pod', aligned: boolean): void
  /** So many kinds of memory were given to a container. */
  memoryGiven(kinds: number): void
  memoryRejected(): void
}

const TOPOLOGY = 'kubelet_topology_manager_admission'
const MEMORY = 'kubelet_memory_manager_pinning'
const SOURCE = { resource_name: 'memory', source: 'node' } as const
// From a twentieth of a millisecond to almost a second.
const DURATIONS = Array.from({ length: 15 }, (_, step) => 0.05 * 2 ** step)

/** What is told of placing pods, and of memory of NUMA nodes. */
export function createPlacementMetrics(set: MetricSet, counters: PlacementCounters): PlacementMetrics {
  const requests = set.counter({ name: `${TOPOLOGY}_requests_total`, help: 'Pods that were placed, or were to be.' })
  const errors = set.counter({ name: `${TOPOLOGY}_errors_total`, help: 'Those of them that had no place.' })
  const durations = set.histogram({
    name: `${TOPOLOGY}_duration_ms`,
    help: 'How long it takes to place a pod.',
    buckets: DURATIONS,
  })
  const pinned = set.counter({ name: `${MEMORY}_requests_total`, help: 'Containers that were to get memory.' })
  const unpinned = set.counter({ name: `${MEMORY}_errors_total`, help: 'Those of them that got none.' })
  return {
    podPlaced({ milliseconds, failed }) {
      requests.inc()
      durations.observe(milliseconds)
      if (failed) errors.inc()
    },
    placementAligned(scope, aligned) {
      const counter = aligned ? counters.aligned : counters.unaligned
      counter.inc({ boundary: 'numa_node', scope })
    },
    memoryGiven(kinds) {
      pinned.inc()
      counters.allocations.inc(SOURCE, kinds)
      counters.assignments.inc({ resource_name: 'memory', assignment_type: 'node_exclusive' })
    },
    memoryRejected() {
      pinned.inc()
      unpinned.inc()
      counters.failures.inc(SOURCE)
    },
  }
}
