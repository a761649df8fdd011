import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of questions about resources of pods. */
export interface NodeApiMetrics {
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

const PREFIX = 'kubelet_pod_resources_endpoint'
const LABELS = ['server_api_version'] as const

/** What the node serves on its own sockets, and whose sockets it uses. */
export function createNodeApiMetrics(set: MetricSet, plugins: () => readonly PluginInfo[]): NodeApiMetrics {
  const counter = (name: string, help: string) => set.counter({ name: `${PREFIX}_${name}`, help, labels: LABELS })
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
