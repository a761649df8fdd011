import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What a request counts as; each from a closed set. */
export interface RequestLabels {
  readonly method: string
  /** The first part of the path of the endpoint; "other" where none is. */
  readonly path: string
  readonly serverType: 'readonly' | 'readwrite'
  readonly longRunning: boolean
}

/** What is counted of requests to us. */
export interface HttpMetrics {
  requestStarted(labels: RequestLabels): void
  requestEnded(labels: RequestLabels, seconds: number): void
}

const REQUEST_LABELS = ['long_running', 'method', 'path', 'server_type'] as const

export function createHttpMetrics(set: MetricSet): HttpMetrics {
  const inFlight = set.gauge({
    name: 'kubelet_http_inflight_requests',
    help: 'Requests that are being answered.',
    labels: REQUEST_LABELS,
  })
  const total = set.counter({
    name: 'kubelet_http_requests_total',
    help: 'Requests since the start.',
    labels: REQUEST_LABELS,
  })
  const durations = set.histogram({
    name: 'kubelet_http_requests_duration_seconds',
    help: 'How long answers to requests take.',
    labels: REQUEST_LABELS,
  })
  const toLabels = ({ method, path, serverType, longRunning }: RequestLabels) => ({
    method,
    path,
    server_type: serverType,
    long_running: String(longRunning),
  })
  return {
    requestStarted(labels) {
      total.inc(toLabels(labels))
      inFlight.inc(toLabels(labels))
    },
    requestEnded(labels, seconds) {
      inFlight.dec(toLabels(labels))
      durations.observe(toLabels(labels), seconds)
    },
  }
}

/** What is counted of streams. */
export interface StreamMetrics {
  /** A client speaks WebSocket with us, not with the runtime. */
  webSocketRequest(subresource: 'exec' | 'attach' | 'portforward'): void
}

export function createStreamMetrics(set: MetricSet): StreamMetrics {
  const webSockets = set.counter({
    name: 'kubelet_websocket_streaming_requests_total',
    help: 'Streams over WebSockets that end here.',
    labels: ['subresource'],
  })
  return { webSocketRequest: (subresource) => webSockets.inc({ subresource }) }
}

/** What is counted of questions about resources of pods. */
export interface NodeSocketMetrics {
  podResourcesRequest(request: {
    readonly version: 'v1' | 'v1alpha1'
    readonly method: 'list' | 'get' | 'get_allocatable'
    readonly failed: boolean
  }): void
}

/** The socket of a plugin. */
interface PluginInfo {
  readonly socketPath: string
  readonly isRegistered: boolean
}

const POD_RESOURCES = 'kubelet_pod_resources_endpoint'
const POD_RESOURCES_LABELS = ['server_api_version'] as const

/** What the node serves on its own sockets, and whose sockets it uses. */
export function createNodeSocketMetrics(set: MetricSet, plugins: () => readonly PluginInfo[]): NodeSocketMetrics {
  const counter = (name: string, help: string) =>
    set.counter({ name: `${POD_RESOURCES}_${name}`, help, labels: POD_RESOURCES_LABELS })
  const total = counter('requests_total', 'Questions about the resources of pods.')
  const requests = {
    list: counter('requests_list', 'Questions about all pods.'),
    get: counter('requests_get', 'Questions about one pod.'),
    get_allocatable: counter('requests_get_allocatable', 'Questions about all that there is.'),
  }
  const errors = {
    list: counter('errors_list', 'Questions about all pods that failed.'),
    get: counter('errors_get', 'Questions about one pod that failed.'),
    get_allocatable: counter('errors_get_allocatable', 'Questions about all that there is that failed.'),
  }
  set.read({ name: 'plugin_manager_total_plugins', help: 'Plugins by socket.', labels: ['socket_path', 'state'] }, () =>
    plugins().flatMap(toRows),
  )
  return {
    podResourcesRequest({ version, method, failed }) {
      const labels = { server_api_version: version }
      total.inc(labels)
      // The old version is counted only as a whole.
      if (version === 'v1') requests[method].inc(labels)
      if (failed) errors[method].inc(labels)
    },
  }
}

/** One that is not registered yet is only wanted. */
function toRows({ socketPath, isRegistered }: PluginInfo) {
  const states = isRegistered ? ['actual_state_of_world', 'desired_state_of_world'] : ['desired_state_of_world']
  return states.map((state) => ({ labels: { socket_path: socketPath, state }, value: 1 }))
}

/** What is counted of health checks. */
export interface HealthMetrics {
  healthChecked(name: string, isHealthy: boolean): void
}

export function createHealthMetrics(set: MetricSet): HealthMetrics {
  const type = 'healthz'
  const last = set.gauge({
    name: 'kubernetes_healthcheck',
    help: 'The result of the last health check: 1 is healthy.',
    stability: 'STABLE',
    labels: ['name', 'type'],
  })
  const total = set.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks by result.',
    stability: 'STABLE',
    labels: ['name', 'status', 'type'],
  })
  return {
    healthChecked(name, isHealthy) {
      last.set({ name, type }, Number(isHealthy))
      total.inc({ name, type, status: isHealthy ? 'success' : 'error' })
    },
  }
}
