import type { ObservedPod } from '../model/pod/observed-pod.ts'
import { computePodCounts } from './scrape/compute-pod-counts.ts'
import type { PodCounts, DesiredPod, WorkedPod } from './scrape/compute-pod-counts.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** A feature gate as metrics show it. */
interface GateInfo {
  readonly name: string
  /** ALPHA, BETA, DEPRECATED; empty for what is generally available. */
  readonly stage: string
  readonly enabled: boolean
}

/** What is read of the node at each scrape. */
export interface NodeMetricSources {
  readonly name: string
  readonly cgroupVersion: 1 | 2
  readonly gates: () => readonly GateInfo[]
  readonly wanted: () => readonly DesiredPod[]
  readonly observed: () => readonly ObservedPod[]
  readonly worked: () => readonly WorkedPod[]
  /** When our certificates end, in milliseconds since the epoch; undefined for one that is not there. */
  readonly certificates: () => { readonly client: number | undefined; readonly server: number | undefined }
  readonly now: () => number
}

/** The node and its pods, by the names of the Go kubelet. */
export function addNodeMetrics(set: MetricSet, info: NodeMetricSources): void {
  const { name: node } = info
  const gates = set.oncePerScrape(info.gates)
  set.read({ name: 'kubelet_node_name', help: 'The name of this node.', labels: ['node'] }, () => [
    { labels: { node }, value: 1 },
  ])
  // cadvisor is the name for reading cgroup files instead of asking the runtime for stats.
  set.read({ name: 'kubelet_metrics_provider', help: 'Where stats of pods come from.', labels: ['provider'] }, () => [
    { labels: { provider: gates().some(isFromRuntime) ? 'cri' : 'cadvisor' }, value: 1 },
  ])
  const version = info.cgroupVersion
  set.readOne({ name: 'kubelet_cgroup_version', help: 'The version of cgroups that is used.' }, () => version)
  set.read(
    {
      name: 'kubernetes_feature_enabled',
      help: 'Feature gates and whether they are on.',
      stability: 'BETA',
      labels: ['name', 'stage'],
    },
    () => gates().map(({ name, stage, enabled }) => ({ labels: { name, stage }, value: Number(enabled) })),
  )
  addPodCounts(
    set,
    set.oncePerScrape(() => computePodCounts(info.wanted(), info.observed(), info.worked())),
  )
  addLifetimes(set, info)
}

function isFromRuntime({ name, enabled }: GateInfo): boolean {
  return name === 'PodAndContainerStatsFromCRI' && enabled
}

function addPodCounts(set: MetricSet, count: () => PodCounts): void {
  const byStatic = (name: string, help: string, read: (counts: PodCounts) => Readonly<Record<string, number>>) =>
    set.read({ name, help, labels: ['static'] }, () =>
      Object.entries(read(count())).map(([value, pods]) => ({ labels: { static: value }, value: pods })),
    )
  byStatic('kubelet_desired_pods', 'Pods that are wanted on this node; static: by the node itself.', (c) => c.desired)
  byStatic('kubelet_active_pods', 'Pods that are wanted on this node and not over.', (c) => c.active)
  const one = (name: string, help: string, read: (counts: PodCounts) => number) =>
    set.readOne({ name, help }, () => read(count()))
  one('kubelet_mirror_pods', 'Pods of the API server that stand for one of the node itself.', (c) => c.mirror)
  one(
    'kubelet_managed_ephemeral_containers',
    'Ephemeral containers in the specs of pods.',
    (c) => c.ephemeralContainers,
  )
  one('kubelet_running_pods', 'Pods whose sandbox is ready.', (c) => c.running)
  set.read({ name: 'kubelet_running_containers', help: 'Containers by state.', labels: ['container_state'] }, () =>
    Object.entries(count().containers).map(([state, value]) => ({ labels: { container_state: state }, value })),
  )
  set.read(
    {
      name: 'kubelet_working_pods',
      help: 'Pods that have a worker, by what it does.',
      labels: ['config', 'lifecycle', 'static'],
    },
    () => count().working.map(({ count: value, ...labels }) => ({ labels, value })),
  )
}

function addLifetimes(set: MetricSet, { certificates, now }: NodeMetricSources): void {
  const lifetime = (name: string, help: string, read: () => number | undefined) =>
    set.readOne({ name, help }, () => {
      const end = read()
      return end === undefined ? Infinity : (end - now()) / 1000
    })
  lifetime(
    'kubelet_certificate_manager_client_ttl_seconds',
    'How long the client certificate is still valid.',
    () => certificates().client,
  )
  lifetime(
    'kubelet_certificate_manager_server_ttl_seconds',
    'How long the serving certificate is still valid.',
    () => certificates().server,
  )
}

/** What is timed of the way of a new node into its cluster. */
export interface NodeStartupMetrics {
  nodeStartup(step: keyof typeof STEPS, seconds: number): void
}

const STEPS = {
  pre_kubelet: ['pre_kubelet_', 'From the start of the machine to that of the agent.'],
  pre_registration: ['pre_registration_', 'From the start of the agent to its first try to make the Node object.'],
  registration: ['registration_', 'From the first try to make the Node object until it was there.'],
  post_registration: ['post_registration_', 'From the making of the Node object until it was ready.'],
  whole: ['', 'From the start of the machine until the node was ready.'],
} as const

export function createNodeStartupMetrics(set: MetricSet): NodeStartupMetrics {
  const toGauge = ([part, help]: readonly [string, string]) =>
    set.gauge({ name: `kubelet_node_startup_${part}duration_seconds`, help })
  const gauges = new Map(Object.entries(STEPS).map(([step, names]) => [step, toGauge(names)]))
  return { nodeStartup: (step, seconds) => gauges.get(step)?.set(seconds) }
}

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

/** What is counted of evictions. */
export interface EvictionMetrics {
  /** A pod was evicted for the sake of this signal, or for a limit of its own. */
  eviction(signal: string): void
  /** An eviction was decided by stats of this age. */
  evictionStatsAge(signal: string, seconds: number): void
}

export function createEvictionMetrics(set: MetricSet): EvictionMetrics {
  const labels = ['eviction_signal'] as const
  const total = set.counter({ name: 'kubelet_evictions', help: 'Pods that were evicted, by what was short.', labels })
  const age = set.histogram({
    name: 'kubelet_eviction_stats_age_seconds',
    help: 'How old the stats were that pods were evicted by.',
    labels,
  })
  return {
    eviction: (signal) => total.inc({ eviction_signal: signal }),
    evictionStatsAge: (signal, seconds) => age.observe({ eviction_signal: signal }, seconds),
  }
}

/** What is timed of cgroups. */
export interface CgroupMetrics {
  cgroupWork(operation: 'create' | 'update' | 'destroy', seconds: number): void
  /** How much memory of pods is protected now. Parity: the gate MemoryQoS. */
  memoryProtected(sums: { readonly guaranteedBytes: number; readonly burstableBytes: number }): void
}

export function createCgroupMetrics(set: MetricSet): CgroupMetrics {
  const durations = set.histogram({
    name: 'kubelet_cgroup_manager_duration_seconds',
    help: 'How long it takes to make, change or remove a cgroup.',
    labels: ['operation_type'],
  })
  const protectedBytes = (kind: string, help: string) =>
    set.gauge({ name: `kubelet_memory_qos_node_memory_${kind}_bytes`, help })
  const min = protectedBytes('min', 'Memory that is never taken from Guaranteed pods.')
  const low = protectedBytes('low', 'Memory that is taken from Burstable pods last.')
  return {
    cgroupWork: (operation, seconds) => durations.observe({ operation_type: operation }, seconds),
    memoryProtected({ guaranteedBytes, burstableBytes }) {
      min.set(guaranteedBytes)
      low.set(burstableBytes)
    },
  }
}
