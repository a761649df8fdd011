/** One measure of the benchmark. */
export interface Row {
  readonly name: string
  readonly title: string
  readonly unit: 's' | '%' | 'MB' | '/s' | '×' | ''
  /** What our value may be, as a part of the other kubelet's; undefined where there is no comparison. */
  readonly aim: number | undefined
  /** What our value may be by itself, whatever another kubelet does. */
  readonly limit?: number
  /** The row with what the runtime alone takes: no agent is below it. */
  readonly floor?: string
}

const row = (name: string, unit: Row['unit'], aim: number | undefined, title: string, floor?: string): Row => ({
  name,
  title,
  unit,
  aim,
  ...(floor !== undefined && { floor }),
})

const limited = (name: string, unit: Row['unit'], limit: number, title: string): Row => ({
  ...row(name, unit, undefined, title),
  limit,
})

/** Every measure, in the order of the table. */
export const rows: readonly Row[] = [
  row('start', 's', 0.5, "manifest written → workload's first instruction", 'start-floor'),
  row('start-floor', 's', undefined, '… the same calls to the runtime back to back, without an agent'),
  row('start-no-cgroups', 's', undefined, '… without cgroups for pods and QoS classes'),
  row('ready', 's', 0.5, 'manifest written → Ready in GET /pods', 'start-floor'),
  row('restart', 's', 0.2, "container killed → its replacement's first instruction"),
  row('stop', 's', 1, 'manifest removed → SIGTERM in the workload'),
  row('half-started', 's', 0.5, 'many pods at once: half of them started'),
  row('all-ready', 's', 0.85, 'many pods at once: all Ready'),
  row('burst-cpu', 's', 0.7, "many pods at once: agent's own CPU time"),
  row('steady-cpu', '%', 0.2, 'steady, many pods: agent CPU, part of a core'),
  row('asked-cpu', '%', 0.25, '… with /stats/summary and /metrics/resource read every 10 s'),
  row('idle-cpu', '%', 0.5, 'steady, no pods: agent CPU, part of a core'),
  row('rest-cpu', '%', 0.5, '… a minute after its start'),
  row('idle-memory', 'MB', 0.9, 'memory (PSS), no pods'),
  row('memory', 'MB', 0.7, 'memory (PSS), many pods'),
  row('idle-anonymous', 'MB', undefined, 'of it anonymous, no pods'),
  row('anonymous', 'MB', 0.7, 'of it anonymous, many pods'),
  row('startup', 's', 0.9, 'exec → healthy'),
  row('startup-cpu', 's', undefined, 'exec → healthy: CPU time'),
  row('startup-cpu-sources', 's', undefined, '… from the sources, without a build; at most 1.3 × of that'),
  row('executable-size', 'MB', undefined, 'the one executable: size'),
  row('executable-startup', 's', undefined, 'the one executable: exec → healthy'),
  row('executable-startup-launcher', 's', undefined, '… launcher and dist, in turns with it'),
  row('executable-startup-cpu', 's', undefined, 'the one executable: exec → healthy: CPU time'),
  row('executable-startup-cpu-launcher', 's', undefined, '… launcher and dist, in turns with it'),
  row('executable-memory', 'MB', undefined, 'the one executable: memory (PSS), no pods'),
  row('executable-anonymous', 'MB', undefined, '… of it anonymous'),
  row('executable-anonymous-launcher', 'MB', undefined, '… launcher and dist, in turns with it'),
  row('recovery', 's', 0.5, 'SIGKILL with many pods → all Ready again in GET /pods'),
  row('recovery-restarts', '', undefined, '… containers restarted by that'),
  row('scrape', 's', undefined, 'GET /metrics, many pods'),
  row('event-loop', 's', undefined, 'event-loop delay p99, many pods'),
  row('heap', 'MB', undefined, 'JavaScript heap used, many pods'),
  row('dense-ready', 's', 0.85, '500 pods at once: all Ready'),
  row('dense-burst-cpu', 's', 0.7, "500 pods at once: agent's own CPU time"),
  row('dense-cpu', '%', 0.2, 'steady, 500 pods: agent CPU, part of a core'),
  row('dense-memory', 'MB', 0.7, 'memory (PSS), 500 pods'),
  row('dense-anonymous', 'MB', 0.7, 'of it anonymous, 500 pods'),
  row('dense-pods', 's', undefined, 'GET /pods, 500 pods'),
  row('dense-summary', 's', undefined, 'GET /stats/summary, 500 pods'),
  row('dense-cadvisor', 's', undefined, 'GET /metrics/cadvisor, 500 pods'),
  row('dense-metrics', 's', undefined, 'GET /metrics, 500 pods'),
  row('dense-pods-size', 'MB', undefined, 'GET /pods, 500 pods: size'),
  row('dense-summary-size', 'MB', undefined, 'GET /stats/summary, 500 pods: size'),
  row('dense-cadvisor-size', 'MB', undefined, 'GET /metrics/cadvisor, 500 pods: size'),
  row('dense-metrics-size', 'MB', undefined, 'GET /metrics, 500 pods: size'),
  row('dense-event-loop', 's', undefined, 'event-loop delay p99, 500 pods'),
  row('sparse-cpu', '%', 0.2, 'steady, 50 pods: agent CPU, part of a core'),
  row('sparse-memory', 'MB', undefined, 'memory (PSS), 50 pods'),
  limited('dense-growth', '×', 1.5, 'steady, 500 pods: agent CPU, as a part of that with 50 pods'),
  limited('dense-pod-memory', 'MB', 0.15, 'memory (PSS) for each further pod, from 50 to 500'),
  limited('dense-scrape-time', 's', 0.1, 'the most expensive scrape, 500 pods: CPU time of the event loop'),
  limited('dense-scrape-hold', 's', 0.01, 'scrapes, 500 pods: longest time that the event loop was held'),
  row('dense-recovery', 's', 0.5, 'SIGKILL with 500 pods → all Ready again in GET /pods'),
  row('dense-gone', 's', 1, '500 manifests removed at once → no pod is left'),
  // While pods that are asked over HTTP each second for their liveness run beside.
  row('crash-cpu', '%', 0.5, 'a node of crash-looping pods: agent CPU in the second minute, part of a core'),
  row('crash-starts', '/s', undefined, 'a node of crash-looping pods: containers started in a second'),
  row('crash-probe-gap', 's', 1, 'a node of crash-looping pods: longest time without a liveness probe of another pod'),
  row('streams-open', 's', 1, '50 exec and 200 followed logs at once: all of them open'),
  row('streams-exec', 's', 1, '50 exec and 200 followed logs at once: a line to a process and back, p99'),
  row('streams-follow', 's', 1, '50 exec and 200 followed logs at once: a line written → read, p99'),
  row('streams-cpu', '%', 1, '50 exec and 200 followed logs at once: agent CPU, part of a core'),
  row('streams-probe-gap', 's', 1, '50 exec and 200 followed logs at once: longest time without a liveness probe'),
  // Open loop: the next pod is made whether the node keeps up or not. On a real API server (KUBE_BIN names the folder of its programs).
  row('rush-ready', '/s', undefined, '20 pods a second made and deleted in a cluster: pods that got Ready in a second'),
  row('rush-ready-time', 's', 0.85, '… made → Ready, p99 of those'),
  row('rush-gone-time', 's', 1, '… deleted → gone, p99'),
  row('rush-cpu', 's', 0.7, '… agent CPU time for each pod'),
  row('rush-requests', '', undefined, '… API requests for each pod'),
  row('rush-lease-gap', 's', 1, '… longest time without a renewal of the lease'),
  row('rush-probe-gap', 's', 1, '… longest time without a liveness probe of another pod'),
  // Readiness over HTTP, liveness over TCP (exec in one pod of twenty), startup over TCP; seen by the workloads, over a minute.
  row('probes-missed', '', undefined, 'pods probed each second: periods without a probe, by the pods'),
  row('probes-gap', 's', undefined, 'pods probed each second: longest time without a probe, by the pods'),
  row('probes-shortfall', '', undefined, 'pods probed each second: missing probes, by the agent'),
  row('probes-cpu', '%', undefined, 'pods probed each second: agent CPU, part of a core'),
  row('probes-event-loop', 's', undefined, 'pods probed each second: event-loop delay p99'),
  row(
    'race-outside',
    '',
    undefined,
    '500 starts on a subPath that is swapped with a link to /: containers that saw the outside',
  ),
  // Fails when a mount, directory, child process or descriptor is left.
  row(
    'volume-cycles',
    's',
    undefined,
    '500 pods with volumes of every kind, 25 at a time: all started, removed and nothing left',
  ),
  // The API of the standalone node, 1,000 pods and 50 watchers over TLS, each pod made, changed once and deleted.
  row('api-writes', '/s', undefined, 'API, 1,000 pods and 50 watchers: writes'),
  row('api-watch', 's', undefined, 'API, 1,000 pods and 50 watchers: write sent → delivered to the watchers, p99'),
  row('api-memory', 'MB', undefined, 'API, 1,000 pods and 50 watchers: memory (PSS)'),
  // The standalone node with its API, controllers, DNS and agent, without its runtime: many pods behind 20 Services. Aims: 200 MB, 1.5 %.
  row(
    'node-memory',
    'MB',
    undefined,
    'standalone node, many pods and 20 Services: memory (PSS) of all but the runtime',
  ),
  row(
    'node-cpu',
    '%',
    undefined,
    'standalone node, many pods and 20 Services: idle CPU of all but the runtime, part of a core',
  ),
  // Aims: 10 MB and 1 %. Anonymous: the reader has the same program, so pages of files would count for less while it is there.
  row('page-memory', 'MB', undefined, 'standalone node, many pods: anonymous memory more while one page is open'),
  row('page-cpu', '%', undefined, 'standalone node, many pods: CPU more while one page is open, part of a core'),
  row('page-opening', 's', undefined, '… CPU time to open one'),
  // Both kinds of configuration in turns, pod by pod, on one node.
  row('node-start', 's', undefined, "standalone node: manifest written → workload's first instruction"),
  row(
    'node-start-before',
    's',
    undefined,
    '… with the settings of before: runc, and masquerading for each pod by the bridge plugin',
  ),
  limited('node-start-share', '×', 0.6, '… the first as a part of the second'),
  row(
    'node-start-cpu',
    's',
    undefined,
    'standalone node: CPU time of the runtime and its plugins for the start of a pod',
  ),
  row(
    'node-start-cpu-before',
    's',
    undefined,
    '… with the settings of before: runc, and masquerading for each pod by the bridge plugin',
  ),
  // Both nodes in turns, in one lab.
  row('now-start', 's', undefined, "standalone node: manifest written → workload's first instruction"),
  row('earlier-start', 's', undefined, '… on the standalone node of an earlier version (--earlier)'),
  limited('now-start-share', '×', 0.6, '… the first as a part of the second'),
  row('deployment-ready', 's', undefined, 'standalone node: kubectl create deployment → available'),
  row('rollout', 's', undefined, 'standalone node: rollout of 50 replicas'),
  row('request-direct', 's', undefined, 'standalone node: request to a pod, on a connection of its own'),
  row('request-service', 's', undefined, '… through its Service'),
  row('dns-answers', '/s', undefined, 'standalone node: answers of DNS about Services'),
  // The standalone node: pods of its API with a ConfigMap each, 10 at a time; the first 60 warm up.
  row('churn-heap', 'MB', undefined, '720 pods of the API created and deleted: heap growth since the first 60'),
  row(
    'churn-memory',
    'MB',
    undefined,
    '720 pods of the API created and deleted: resident memory growth since the first 60',
  ),
  row('churn-requests', '', undefined, '720 pods of the API created and deleted: API requests per pod'),
  // deckhand simulate in a process of its own, on the API of the standalone node.
  row('simulated-ready', 's', undefined, '100 simulated nodes with 10 pods each: start → all nodes and pods ready'),
  row(
    'simulated-cpu',
    '%',
    undefined,
    '100 simulated nodes with 10 pods each: CPU for each node while nothing changes',
  ),
  row('simulated-memory', 'MB', undefined, '100 simulated nodes with 10 pods each: memory (PSS) for each node'),
  row(
    'simulated-requests',
    '/s',
    undefined,
    '100 simulated nodes with 10 pods each: API requests while nothing changes',
  ),
  row('fleet-ready', 's', undefined, '1,000 simulated nodes with 10 pods each: start → all nodes and pods ready'),
  row('fleet-cpu', '%', undefined, '1,000 simulated nodes with 10 pods each: CPU for each node while nothing changes'),
  row('fleet-memory', 'MB', undefined, '1,000 simulated nodes with 10 pods each: memory (PSS) for each node'),
  row('fleet-requests', '/s', undefined, '1,000 simulated nodes with 10 pods each: API requests while nothing changes'),
]

/** What was measured: for each row's name the values of all runs. */
export type Samples = Readonly<Record<string, readonly number[]>>

/** The values of several runs, together. */
export function mergeSamples(all: readonly Samples[]): Samples {
  const merged: Record<string, number[]> = {}
  for (const samples of all) {
    for (const [name, values] of Object.entries(samples)) (merged[name] ??= []).push(...values)
  }
  return merged
}
