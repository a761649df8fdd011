import process from 'node:process'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** How late the event loop is. */
export interface LoopDelay {
  /** In seconds, since the start. */
  percentile(percent: number): number
}

/** What the kernel knows of this process. */
interface ProcessUsage {
  readonly virtualBytes: number
  /** As much as the kernel counts when there is no limit. */
  readonly virtualMaxBytes: number
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly openFiles: number
  readonly maxFiles: number
}

export interface ProcessSources {
  /** In milliseconds since the epoch. */
  readonly startedAt: number
  readonly loopDelay: LoopDelay
  readonly usage?: (() => ProcessUsage) | undefined
}

/** What the agent itself costs: under the names that every process has, and what only Node has. */
export function addProcessMetrics(set: MetricSet, { startedAt, loopDelay, usage }: ProcessSources): void {
  const gauge = (name: string, help: string, read: () => number) => set.readOne({ name, help }, read)
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'How long a turn of the event loop keeps the others waiting, 99th percentile since the start.',
    () => loopDelay.percentile(99),
  )
  gauge(
    'nodejs_eventloop_lag_max_seconds',
    'How long a turn of the event loop kept the others waiting at worst since the start.',
    () => loopDelay.percentile(100),
  )
  gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed)
  gauge('nodejs_heap_size_total_bytes', 'Heap that is kept.', () => process.memoryUsage().heapTotal)
  gauge('nodejs_external_memory_bytes', 'Memory of buffers and the like.', () => process.memoryUsage().external)
  gauge(
    'nodejs_active_resources',
    'Handles, timers and requests that keep the process busy.',
    () => process.getActiveResourcesInfo().length,
  )
  gauge('process_resident_memory_bytes', 'Resident memory of the agent.', () => process.memoryUsage.rss())
  if (usage !== undefined) {
    gauge('process_virtual_memory_bytes', 'Virtual memory of the agent.', () => usage().virtualBytes)
    gauge(
      'process_virtual_memory_max_bytes',
      'How much virtual memory the agent may have.',
      () => usage().virtualMaxBytes,
    )
    const counter = (name: string, help: string, read: () => number) => set.readCounter({ name, help }, read)
    counter(
      'process_network_receive_bytes_total',
      'What came over the network of the agent.',
      () => usage().receivedBytes,
    )
    counter('process_network_transmit_bytes_total', 'What left over the network of the agent.', () => usage().sentBytes)
    gauge('process_open_fds', 'Open files of the agent.', () => usage().openFiles)
    gauge('process_max_fds', 'How many files the agent may open.', () => usage().maxFiles)
  }
  addStartTime(set, startedAt)
  set.readCounter({ name: 'process_cpu_seconds_total', help: 'CPU time of the agent, user and system.' }, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
}

/** What failed inside the agent without ending it. */
export interface FailureMetrics {
  loopFailed(loop: string): void
  taskFailed(): void
  /** A file of the agent's own state could not be used. */
  stateSetAside(kind: string): void
}

export function createFailureMetrics(set: MetricSet): FailureMetrics {
  const loops = set.counter({
    name: 'deckhand_loop_failures_total',
    help: 'Failures of loops of the agent, each of which was run again.',
    labels: ['loop'],
  })
  const tasks = set.counter({
    name: 'deckhand_task_failures_total',
    help: 'Tasks of the agent that failed unexpectedly.',
  })
  const files = set.counter({
    name: 'deckhand_state_files_set_aside_total',
    help: 'Files of the state of the agent that could not be used: of the node (state), of a folder (record), of a pod (pod), of a volume (volume), copies of manifests (manifest), certificates and kubeconfigs (credential).',
    labels: ['kind'],
  })
  return {
    loopFailed: (loop) => loops.inc({ loop }),
    taskFailed: () => tasks.inc(),
    stateSetAside: (kind) => files.inc({ kind }),
  }
}

/** When the agent started: also among metrics that are shown on their own. */
export function addStartTime(set: MetricSet, startedAt: number): void {
  const help = 'When the agent started, in seconds since the epoch.'
  set.readOne({ name: 'process_start_time_seconds', help }, () => startedAt / 1000)
}

const BUILD_LABELS = [
  'build_date',
  'compiler',
  'git_commit',
  'git_tree_state',
  'git_version',
  'go_version',
  'major',
  'minor',
  'platform',
] as const

/** Which version this is, and how many metrics it has. */
export function addBuildMetrics(set: MetricSet, version: string): void {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  set.read(
    { name: 'kubernetes_build_info', help: 'The version of the agent.', stability: 'BETA', labels: BUILD_LABELS },
    () => [
      {
        labels: {
          build_date: '',
          compiler: 'node',
          git_commit: '',
          git_tree_state: '',
          git_version: version,
          go_version: `node${process.version}`,
          major,
          minor,
          platform: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`,
        },
        value: 1,
      },
    ],
  )
  set.read(
    {
      name: 'version_info',
      help: 'The version of the agent and the one it behaves like.',
      labels: ['binary', 'component', 'emulation', 'min_compat'],
    },
    () => {
      const short = `${major}.${minor}`
      return [{ labels: { binary: short, component: 'kube', emulation: short, min_compat: short }, value: 1 }]
    },
  )
}

/** How many metrics there are. None is ever hidden or switched off: both belong to metrics that are on their way out, and there are none. */
export function addRegistryMetrics(set: MetricSet, all: readonly MetricSet[]): void {
  set.readCounters(
    {
      name: 'registered_metrics_total',
      help: 'Metrics by stability.',
      stability: 'BETA',
      labels: ['deprecated_version', 'stability_level'],
    },
    () => {
      const counts = new Map<string, number>()
      for (const { stabilities } of all)
        for (const [level, count] of stabilities) counts.set(level, (counts.get(level) ?? 0) + count)
      return [...counts].map(([level, value]) => ({
        labels: { deprecated_version: '', stability_level: level },
        value,
      }))
    },
  )
  for (const [name, help] of [
    ['hidden_metrics_total', 'Metrics that are hidden.'],
    ['disabled_metrics_total', 'Metrics that are switched off.'],
  ] as const)
    set.readCounter({ name, help, stability: 'BETA' }, () => 0)
}
