import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of where pods get their resources. */
export interface PlacementMetrics {
  /** A pod was placed, or had no place. */
  podPlaced(placed: { readonly milliseconds: number; readonly failed: boolean }): void
  /** What had to come from one NUMA node did, or could not. */
  placementAligned(scope: 'container' | 'pod', aligned: boolean): void
  /** A container was given memory of this many kinds. */
  memoryGiven(kinds: number): void
  memoryRejected(): void
  /** A pod got memory as a whole, which so many containers have for themselves or share. */
  podMemoryGiven(containers: DividedContainers): void
  podMemoryRejected(): void
}

/** How the containers of a pod divide what it has as a whole. */
interface DividedContainers {
  readonly exclusive: number
  readonly shared: number
}

const TOPOLOGY = 'kubelet_topology_manager_admission'
const MEMORY = 'kubelet_memory_manager_pinning'
const MEMORY_SOURCE = { resource_name: 'memory', source: 'node' } as const
const POD_MEMORY_SOURCE = { resource_name: 'memory', source: 'pod' } as const
// From a twentieth of a millisecond to almost a second.
const DURATIONS = Array.from({ length: 15 }, (_, step) => 0.05 * 2 ** step)

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
      counters.allocations.inc(MEMORY_SOURCE, kinds)
      counters.assignments.inc({ resource_name: 'memory', assignment_type: 'node_exclusive' })
    },
    memoryRejected() {
      pinned.inc()
      unpinned.inc()
      counters.failures.inc(MEMORY_SOURCE)
    },
    podMemoryGiven(containers) {
      pinned.inc(1 + containers.exclusive)
      counters.countDivided(POD_MEMORY_SOURCE, containers)
    },
    podMemoryRejected() {
      pinned.inc()
      unpinned.inc()
      counters.failures.inc(POD_MEMORY_SOURCE)
    },
  }
}

export type PlacementCounters = ReturnType<typeof createPlacementCounters>

/** What is counted in the same way of all that containers get for themselves. */
export function createPlacementCounters(set: MetricSet) {
  const boundaries = ['boundary', 'scope'] as const
  const sources = ['resource_name', 'source'] as const
  const allocations = set.counter({
    name: 'resource_manager_allocations_total',
    help: 'What was given away.',
    labels: sources,
  })
  const assignments = set.counter({
    name: 'resource_manager_container_assignments',
    help: 'Containers by what was given to them.',
    labels: ['assignment_type', 'resource_name'],
  })
  return {
    allocations,
    assignments,
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
    failures: set.counter({
      name: 'resource_manager_allocation_errors_total',
      help: 'What could not be given away.',
      labels: sources,
    }),
    /** The containers of a pod that got something as a whole. */
    countDivided(source: { readonly resource_name: string; readonly source: 'pod' }, containers: DividedContainers) {
      const { resource_name } = source
      allocations.inc(source, containers.exclusive + containers.shared)
      assignments.inc({ resource_name, assignment_type: 'pod_exclusive' }, containers.exclusive)
      assignments.inc({ resource_name, assignment_type: 'pod_shared' }, containers.shared)
    },
  }
}

/** What is counted of CPUs that are given to single containers. */
export interface CpuMetrics {
  cpusGiven(given: { readonly wholeCores: boolean; readonly oneCache: boolean }): void
  cpusRejected(refused: { readonly wholeCores: boolean }): void
  /** A pod got CPUs as a whole, which so many containers have for themselves or share. */
  podCpusGiven(given: DividedContainers & { readonly oneCache: boolean }): void
  podCpusRejected(): void
}

/** CPUs as they are given away now. */
export interface CpuPoolStats {
  /** That could still be given to one container. */
  readonly free: number
  readonly exclusive: number
  readonly exclusiveByNode: ReadonlyMap<number, number>
}

const MANAGER = 'kubelet_cpu_manager'
const CPU_SOURCE = { resource_name: 'cpu', source: 'node' } as const
const POD_CPU_SOURCE = { resource_name: 'cpu', source: 'pod' } as const

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
      allocations.inc(CPU_SOURCE)
      assignments.inc({ resource_name: 'cpu', assignment_type: 'node_exclusive' })
      if (wholeCores) aligned.inc({ boundary: 'physical_cpu', scope: 'container' })
      if (oneCache) aligned.inc({ boundary: 'uncore_cache', scope: 'container' })
    },
    cpusRejected({ wholeCores }) {
      requests.inc()
      errors.inc()
      failures.inc(CPU_SOURCE)
      if (wholeCores) unaligned.inc({ boundary: 'physical_cpu', scope: 'container' })
    },
    podCpusGiven({ oneCache, ...containers }) {
      requests.inc(containers.exclusive)
      counters.countDivided(POD_CPU_SOURCE, containers)
      if (oneCache) aligned.inc({ boundary: 'uncore_cache', scope: 'container' })
    },
    podCpusRejected() {
      errors.inc()
      failures.inc(POD_CPU_SOURCE)
    },
  }
}
