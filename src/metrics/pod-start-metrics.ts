import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** How long it took from the making of a pod until the API knew that it runs. */
export interface KnownStart {
  readonly totalSeconds: number
  /** Without the pulling of images and the running of init containers; undefined where volumes of other kinds than the node's own may take long. */
  readonly sliSeconds: number | undefined
  readonly hasNetwork: boolean
}

/** What is counted of starts, and of the work of pods. */
export interface PodStartMetrics {
  /** A container was to start; the failure is the reason that users see. */
  containerStart(kind: 'init' | 'regular' | 'ephemeral', failure: string | undefined): void
  /** A pod runs for the first time, so long after it was first seen. */
  podStart(seconds: number): void
  /** The API knows for the first time that all containers of a pod run. */
  podStartKnown(start: KnownStart): void
  /** A pod was seen for the first time. */
  podSeen(containers: number): void
  /** One pass of the worker of a pod. */
  podWorkerPass(operation: 'create' | 'update' | 'sync' | 'kill' | 'terminated', seconds: number): void
  /** The worker of a pod began, so long after the pod was first seen. */
  podWorkerStart(seconds: number): void
}

const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
]

export function createPodStartMetrics(set: MetricSet): PodStartMetrics {
  const counter = <T extends string = never>(name: string, help: string, labels: readonly T[] = []) =>
    set.counter<T>({ name: `kubelet_${name}`, help, labels })
  const containers = counter('started_containers_total', 'Containers that were to start.', ['container_type'])
  const containerErrors = counter('started_containers_errors_total', 'Containers that could not start, by reason.', [
    'code',
    'container_type',
  ])
  return {
    ...createWorkDurations(set),
    ...createStartDurations(set),
    containerStart(kind, failure) {
      const container_type = CONTAINER_TYPES[kind]
      containers.inc({ container_type })
      if (failure !== undefined) containerErrors.inc({ container_type, code: failure })
    },
  }
}

function createStartDurations(set: MetricSet): Pick<PodStartMetrics, 'podStart' | 'podStartKnown'> {
  const starts = (name: string, help: string) => set.histogram({ name, help, buckets: POD_START_BUCKETS })
  const seen = starts('kubelet_pod_start_duration_seconds', 'From the first sight of a pod until it runs.')
  const total = starts(
    'kubelet_pod_start_total_duration_seconds',
    'From the making of a pod until the API says that it runs.',
  )
  const sli = starts(
    'kubelet_pod_start_sli_duration_seconds',
    'From the making of a pod until the API says that it runs, without pulling images and running init containers.',
  )
  const first = set.gauge({
    name: 'kubelet_first_network_pod_start_sli_duration_seconds',
    help: 'The same of the first pod with a network of its own.',
    stability: 'INTERNAL',
  })
  let hasFirst = false
  return {
    podStart: (seconds) => seen.observe(seconds),
    podStartKnown({ totalSeconds, sliSeconds, hasNetwork }) {
      total.observe(totalSeconds)
      if (sliSeconds === undefined) return
      sli.observe(sliSeconds)
      if (!hasNetwork || hasFirst) return
      hasFirst = true
      first.set(sliSeconds)
    },
  }
}

function createWorkDurations(set: MetricSet): Pick<PodStartMetrics, 'podSeen' | 'podWorkerPass' | 'podWorkerStart'> {
  const containers = set.histogram({
    name: 'kubelet_containers_per_pod_count',
    help: 'Containers of the pods that were seen.',
    buckets: [1, 2, 4, 8, 16],
  })
  const passes = set.histogram({
    name: 'kubelet_pod_worker_duration_seconds',
    help: 'How long one pass over a pod takes, by what it was for.',
    labels: ['operation_type'],
  })
  const workers = set.histogram({
    name: 'kubelet_pod_worker_start_duration_seconds',
    help: 'From the first sight of a pod until it has a worker.',
  })
  return {
    podSeen: (count) => containers.observe(count),
    podWorkerPass: (operation, seconds) => passes.observe({ operation_type: operation }, seconds),
    podWorkerStart: (seconds) => workers.observe(seconds),
  }
}

/** What metrics call the kinds of containers. */
export const CONTAINER_TYPES = {
  init: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
} as const
