import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of the runtime. */
export interface RuntimeMetrics {
  /** One call to the runtime. */
  runtimeOperation(operation: string, seconds: number, failed: boolean): void
  /** A call was given up, and the runtime may be at it still. */
  runtimeCallAbandoned(operation: string): void
  /** One relist: how long it took, and when it ended in milliseconds since the epoch. */
  relist(seconds: number, endedAt?: number): void
  /** A list of everything was larger than the runtime can send. */
  listTooLarge(): void
  /** One read of a single pod. */
  podRelist(seconds: number): void
  /** A stream of events of the runtime was opened, or could not be. */
  runtimeEventsOpened(failed: boolean): void
  /** A Kubernetes of this version will not work with the runtime any more. */
  runtimeLosesSupport(version: string): void
  /** An event of the runtime came, so long after it happened. */
  runtimeEvent(ageSeconds: number): void
}

const OPERATION_BUCKETS = Array.from({ length: 14 }, (_, index) => 0.005 * 2.5 ** index)

export function createRuntimeMetrics(set: MetricSet): RuntimeMetrics {
  const labels = ['operation_type'] as const
  const name = (end: string) => `kubelet_runtime_operations_${end}`
  const operations = set.counter({ name: name('total'), help: 'Calls to the runtime by operation.', labels })
  const errors = set.counter({ name: name('errors_total'), help: 'Calls to the runtime that failed.', labels })
  const abandoned = set.counter({
    name: 'deckhand_runtime_calls_abandoned_total',
    help: 'Calls to the runtime that were given up, by their deadline or by the caller, such as a probe; the runtime may be at them still.',
    labels,
  })
  const tooLarge = set.counter({
    name: 'deckhand_runtime_lists_too_large_total',
    help: 'Relists for which the lists of the runtime were too large to be sent, so that pods were asked for one by one.',
  })
  const durations = set.histogram({
    name: name('duration_seconds'),
    help: 'How long calls to the runtime take, by operation.',
    labels,
    buckets: OPERATION_BUCKETS,
  })
  const relists = set.histogram({
    name: 'kubelet_pleg_relist_duration_seconds',
    help: 'How long a relist takes.',
  })
  const intervals = set.histogram({
    name: 'kubelet_pleg_relist_interval_seconds',
    help: 'From the end of one relist to the end of the next.',
  })
  const lastSeen = set.gauge({
    name: 'kubelet_pleg_last_seen_seconds',
    help: 'When the last relist ended, in seconds since the epoch.',
  })
  const losing = set.gauge({
    name: 'kubelet_cri_losing_support',
    help: 'The version of Kubernetes from which on the runtime is not supported.',
    labels: ['version'],
  })
  let lastEnd: number | undefined
  return {
    runtimeLosesSupport: (version) => losing.inc({ version }),
    ...createEventMetrics(set),
    runtimeOperation(operation, seconds, failed) {
      operations.inc({ operation_type: operation })
      durations.observe({ operation_type: operation }, seconds)
      if (failed) errors.inc({ operation_type: operation })
    },
    runtimeCallAbandoned: (operation) => abandoned.inc({ operation_type: operation }),
    listTooLarge: () => tooLarge.inc(),
    relist(seconds, endedAt) {
      relists.observe(seconds)
      if (endedAt === undefined) return
      if (lastEnd !== undefined) intervals.observe(Math.max(0, endedAt - lastEnd) / 1000)
      lastEnd = endedAt
      lastSeen.set(endedAt / 1000)
    },
  }
}

function createEventMetrics(
  set: MetricSet,
): Pick<RuntimeMetrics, 'podRelist' | 'runtimeEventsOpened' | 'runtimeEvent'> {
  const relists = set.histogram({
    name: 'kubelet_pleg_pod_relist_duration_seconds',
    help: 'How long a read of a single pod takes.',
  })
  const opened = set.counter({
    name: 'kubelet_evented_pleg_connection_success_count',
    help: 'How often a stream of events of the runtime was opened.',
  })
  const errors = set.counter({
    name: 'kubelet_evented_pleg_connection_error_count',
    help: 'How often a stream of events of the runtime broke or could not be opened.',
  })
  const latency = set.histogram({
    name: 'kubelet_evented_pleg_connection_latency_seconds',
    help: 'How long after they happened events of the runtime come.',
  })
  return {
    podRelist: (seconds) => relists.observe(seconds),
    runtimeEventsOpened: (failed) => (failed ? errors : opened).inc(),
    runtimeEvent: (ageSeconds) => latency.observe(ageSeconds),
  }
}
