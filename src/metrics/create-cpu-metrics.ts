import type { PlacementCounters } from './create-placement-counters.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of CPUs that are given to single containers. */
export interface CpuMetrics {
  cpusGiven(given: { readonly wholeCores: boolean; readonly oneCache: boolean }): void
  cpusRejected(refused: { readonly wholeCores: boolean }): void
}

/** CPUs as they are given away now. */
export interface CpuPoolStats {
  /** That could still be given to one container. */
  readonly free: number
  readonly exclusive: number
  readonly exclusiveByNode: ReadonlyMap<number, number>
}

const MANAGER = 'kubelet_cpu_manager'
const SOURCE = { resource_name: 'cpu', source: 'node' } as const

/** What is told of CPUs that containers have for themselves. */
export function createCpuMetrics(set: MetricSet, counters: PlacementCounters, stats: () => CpuPoolStats): CpuMetrics {
  const requests = set.counter({
    name: `${MANAGER}_pinning_requests_total`,
    help: 'Containers that were to get CPUs for themselves.',
  })
  const errors = set.counter({ name: `${MANAGER}_pinning_errors_total`, help: 'Those of them that got none.' })
  set.readOne(
    { name: `${MANAGER}_shared_pool_size_millicores`, help: 'CPUs, in thousandths, that could still be given away.' },
    () => stats().free * 1000,
  )
  set.readOne(
    { name: `${MANAGER}_exclusive_cpu_allocation_count`, help: 'CPUs that containers have for themselves.' },
    () => stats().exclusive,
  )
  set.read({ name: `${MANAGER}_allocation_per_numa`, help: 'The same by NUMA node.', labels: ['numa_node'] }, () =>
    [...stats().exclusiveByNode].map(([node, value]) => ({ labels: { numa_node: `${node}` }, value })),
  )
  const { aligned, unaligned, allocations, failures, assignments } = counters
  return {
    cpusGiven({ wholeCores, oneCache }) {
      requests.inc()
      allocations.inc(SOURCE)
      assignments.inc({ resource_name: 'cpu', assignment_type: 'node_exclusive' })
      if (wholeCores) aligned.inc({ boundary: 'physical_cpu', scope: 'container' })
      if (oneCache) aligned.inc({ boundary: 'uncore_cache', scope: 'container' })
    },
    cpusRejected({ wholeCores }) {
      requests.inc()
      errors.inc()
      failures.inc(SOURCE)
      if (wholeCores) unaligned.inc({ boundary: 'physical_cpu', scope: 'container' })
    },
  }
}
