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
  gauge('nodejs_eventloop_lag_p99_seconds', 'How late the event loop is, 99th percentile since the start.', () =>
    loopDelay.percentile(99),
  )
  gauge('nodejs_eventloop_lag_max_seconds', 'How late the event loop was at worst since the start.', () =>
    loopDelay.percentile(100),
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
    gauge('process_open_fds', 'Open files of the agent.', () => usage().openFiles)
    gauge('process_max_fds', 'How many files the agent may open.', () => usage().maxFiles)
  }
  addStartTime(set, startedAt)
  set.readCounter({ name: 'process_cpu_seconds_total', help: 'CPU time of the agent, user and system.' }, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
}

/** When the agent started: also among metrics that are shown on their own. */
export function addStartTime(set: MetricSet, startedAt: number): void {
  const help = 'When the agent started, in seconds since the epoch.'
  set.readOne({ name: 'process_start_time_seconds', help }, () => startedAt / 1000)
}
