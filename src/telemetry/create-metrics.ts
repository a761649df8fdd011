import process from 'node:process'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createVolumeMetrics } from './create-volume-metrics.ts'
import type { VolumeCount, VolumeMetrics } from './create-volume-metrics.ts'
import { addClaimMetrics } from './add-claim-metrics.ts'
import type { ClaimUsage } from './add-claim-metrics.ts'

/** What the agent counts about itself, under the names of the Go kubelet where it has one. */
export interface AgentMetrics extends VolumeMetrics {
  /** One call to the runtime. */
  runtimeOperation(operation: string, seconds: number, failed: boolean): void
  relist(seconds: number): void
  /** One run of a probe: its type, how it ended (successful, failed, unknown), how long it took. */
  probe(type: string, result: string, seconds: number): void
  /** A container was to start; the failure is the reason that users see. */
  containerStart(kind: 'init' | 'regular' | 'ephemeral', failure: string | undefined): void
  sandboxStart(failed: boolean): void
  /** A pod runs for the first time, so long after it was first seen. */
  podStart(seconds: number): void
  /** One measurement of a volume: du walks through it, statfs asks its file system. */
  volumeMeasured(source: 'du' | 'statfs', seconds: number): void
  render(): Promise<{ readonly type: string; readonly body: string }>
}

export interface MetricsSources {
  readonly version: string
  /** Pods that are wanted here: those that the node itself has (static), and the others. */
  readonly desiredPods: () => { readonly fromNode: number; readonly fromApi: number }
  /** By plugin. */
  readonly volumes: () => readonly VolumeCount[]
  readonly claimUsages: () => readonly ClaimUsage[]
  readonly startedAt: number
  readonly loopDelay: LoopDelay
}

/** How late the event loop is. */
export interface LoopDelay {
  /** In seconds, since the start. */
  percentile(percent: number): number
}

export function createMetrics(sources: MetricsSources): AgentMetrics {
  const registry = new Registry()
  const registers = [registry]
  const operations = new Counter({
    name: 'kubelet_runtime_operations_total',
    help: 'Calls to the runtime by operation.',
    labelNames: ['operation_type'],
    registers,
  })
  const errors = new Counter({
    name: 'kubelet_runtime_operations_errors_total',
    help: 'Calls to the runtime that failed, by operation.',
    labelNames: ['operation_type'],
    registers,
  })
  const durations = new Histogram({
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'How long calls to the runtime take, by operation.',
    labelNames: ['operation_type'],
    buckets: Array.from({ length: 14 }, (_, index) => 0.005 * 2.5 ** index),
    registers,
  })
  const relists = new Histogram({
    name: 'kubelet_pleg_relist_duration_seconds',
    help: 'How long a full look at the runtime takes.',
    registers,
  })
  const probes = new Counter({
    name: 'prober_probe_total',
    help: 'Runs of probes by type and result.',
    labelNames: ['probe_type', 'result'],
    registers,
  })
  const probeDurations = new Histogram({
    name: 'prober_probe_duration_seconds',
    help: 'How long a run of a probe takes, with the wait for its turn, by type.',
    labelNames: ['probe_type'],
    registers,
  })
  addProcessMetrics(registers, sources)
  addDesiredPods(registers, sources)
  const volumeMeasured = addClaimMetrics(registers, sources.claimUsages)
  return {
    ...createStartMetrics(registers),
    ...createVolumeMetrics(registers, sources.volumes),
    runtimeOperation(operation, seconds, failed) {
      operations.inc({ operation_type: operation })
      durations.observe({ operation_type: operation }, seconds)
      if (failed) errors.inc({ operation_type: operation })
    },
    relist: (seconds) => relists.observe(seconds),
    probe(type, result, seconds) {
      probes.inc({ probe_type: type, result })
      probeDurations.observe({ probe_type: type }, seconds)
    },
    volumeMeasured,
    render: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}

const CONTAINER_TYPES = { init: 'init_container', regular: 'container', ephemeral: 'ephemeral_container' } as const
// As in the Go kubelet, so that its dashboards fit.
const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
]

function createStartMetrics(registers: Registry[]): Pick<AgentMetrics, 'containerStart' | 'sandboxStart' | 'podStart'> {
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Counter<T>({ name: `kubelet_${name}`, help, labelNames, registers })
  const containers = counter('started_containers_total', 'Containers that were to start.', ['container_type'])
  const containerErrors = counter('started_containers_errors_total', 'Containers that could not start, by reason.', [
    'code',
    'container_type',
  ])
  const pods = counter('started_pods_total', 'Sandboxes that were to be made.')
  const podErrors = counter('started_pods_errors_total', 'Sandboxes that could not be made.')
  const starts = new Histogram({
    name: 'kubelet_pod_start_duration_seconds',
    help: 'From the first sight of a pod until it runs.',
    buckets: POD_START_BUCKETS,
    registers,
  })
  return {
    containerStart(kind, failure) {
      const container_type = CONTAINER_TYPES[kind]
      containers.inc({ container_type })
      if (failure !== undefined) containerErrors.inc({ container_type, code: failure })
    },
    sandboxStart(failed) {
      pods.inc()
      if (failed) podErrors.inc()
    },
    podStart: (seconds) => starts.observe(seconds),
  }
}

function addDesiredPods(registers: Registry[], { desiredPods }: MetricsSources): void {
  const metric: Gauge = new Gauge({
    name: 'kubelet_desired_pods',
    help: 'Pods that are wanted on this node; static are those of the node itself.',
    labelNames: ['static'],
    registers,
    collect() {
      const { fromNode, fromApi } = desiredPods()
      metric.set({ static: 'true' }, fromNode)
      metric.set({ static: '' }, fromApi)
    },
  })
}

function addProcessMetrics(registers: Registry[], sources: MetricsSources): void {
  const gauge = (name: string, help: string, read: () => number) => {
    const metric: Gauge = new Gauge({ name, help, registers, collect: () => metric.set(read()) })
  }
  gauge('nodejs_eventloop_lag_p99_seconds', 'How late the event loop is, 99th percentile since the start.', () =>
    sources.loopDelay.percentile(99),
  )
  gauge('nodejs_eventloop_lag_max_seconds', 'How late the event loop was at worst since the start.', () =>
    sources.loopDelay.percentile(100),
  )
  gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed)
  gauge(
    'nodejs_active_resources',
    'Handles, timers and requests that keep the process busy.',
    () => process.getActiveResourcesInfo().length,
  )
  gauge('process_resident_memory_bytes', 'Resident memory of the agent.', () => process.memoryUsage.rss())
  gauge(
    'process_start_time_seconds',
    'When the agent started, in seconds since the epoch.',
    () => sources.startedAt / 1000,
  )
  // Nothing else refers to a metric: it lives in its registry.
  void new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the agent, user and system.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const build = new Gauge({
    name: 'kubernetes_build_info',
    help: 'The version of the agent.',
    labelNames: ['git_version'],
    registers,
  })
  build.set({ git_version: sources.version }, 1)
}
