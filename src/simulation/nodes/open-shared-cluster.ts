import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { useCluster } from '../../agent/cluster/join-cluster.ts'
import type { Cluster } from '../../agent/cluster/join-cluster.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { createKubeClient } from '../../protocols/kube-api/create-kube-client.ts'
import { RuntimeClassesFollower } from '../../protocols/kube-api/followers/runtime-classes-follower.ts'
import { ServicesFollower } from '../../protocols/kube-api/followers/services-follower.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { createClusterTransport } from '../../protocols/kube-api/kubeconfig/create-cluster-transport.ts'
import { loadUsableKubeconfig } from '../../protocols/kube-api/kubeconfig/load-kubeconfig.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { Transport } from '../../protocols/kube-api/transport/transport.ts'
import { hostConfigFiles } from '../../system/files/host-config-files.ts'
import { isProgram } from '../../system/files/is-program.ts'
import { runProcess } from '../../system/processes/run-process.ts'
import { NodesFollower } from './nodes-follower.ts'
import { SentRequestCounts } from './sent-request-counts.ts'

export interface SharedClusterDeps {
  readonly kubeconfig: string
  readonly prefix: string
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** The cluster of all simulated nodes. */
export interface SharedCluster {
  /** Without a rate limit, for what belongs to no node. */
  readonly client: KubeClient
  readonly counts: SentRequestCounts
  readonly nodes: NodesFollower
  /** The cluster as one node has it, with its own rate limits and events. */
  join(settings: Settings, group: TaskGroup): Promise<Cluster>
}

const noMetrics = {
  client: { request() {}, waited() {}, sized() {} },
  certificate: { renewError() {}, rotated() {} },
  pluginCall() {},
  pluginCertificate() {},
  hostResolved() {},
  stateSetAside() {},
}

/**
 * The connections of all nodes, and what a thousand watches would show alike: nodes, services and runtime classes are followed once.
 * Everything that depends on the node (its pods, their objects, its lease and status, events) is asked for by each node itself.
 */
export async function openSharedCluster(deps: SharedClusterDeps, group: TaskGroup): Promise<SharedCluster> {
  const { kubeconfig, environment, version, clock, random, log } = deps
  const counts = new SentRequestCounts()
  const config = await loadUsableKubeconfig({ files: hostConfigFiles, environment, isProgram }, kubeconfig)
  const connections = counts.count(
    createClusterTransport({
      config,
      files: hostConfigFiles,
      run: (request, signal) => runProcess(clock, request, signal),
      environment,
      tasks: group,
      clock,
      log,
    }),
  )
  const client = createKubeClient({
    transport: connections,
    qps: -1,
    burst: 0,
    userAgent: `deckhand/${version} (simulation)`,
    metrics: noMetrics.client,
    clock,
    random,
    log,
  })
  // A node that waits for an answer must not end the connections of all others; dead ones are found by pings.
  const ownConnections: Transport = {
    host: connections.host,
    request: (request, signal) => connections.request(request, signal),
    closeAll() {},
  }
  const follower = { client, clock, random, log, apiReturn: new ApiReturn() }
  const nodes = new NodesFollower({ ...follower, prefix: deps.prefix })
  const services = new ServicesFollower(follower)
  const runtimeClasses = new RuntimeClassesFollower(follower)
  group.run('nodes', (s) => nodes.run(s))
  group.run('services', (s) => services.run(s))
  group.run('runtime classes', (s) => runtimeClasses.run(s))
  return {
    client,
    counts,
    nodes,
    async join(settings, tasks) {
      const followed = { node: nodes.of(settings.nodeName), services, runtimeClasses }
      const access = { connections: ownConnections, certificates: undefined, apiReturn: new ApiReturn(), followed }
      const given = { settings, metrics: noMetrics, giveUp() {}, tracer: undefined, clock, random, log }
      return await useCluster(given, access, tasks)
    },
  }
}
