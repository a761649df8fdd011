import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { openServingCertificates } from '../../node/certificates/open-serving-certificates.ts'
import type { ServingCertificates } from '../../node/certificates/open-serving-certificates.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import type { Observer } from '../../pods/observe/observer.ts'
import type { OwnNode } from '../../node/registration/create-node.ts'
import { openLogDirectory } from '../../system/directories/logs/log-directory.ts'
import { makeFolder } from '../../system/files/durable-file.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import type { KubeletApiDeps } from './run-kubelet-api.ts'
import { createContainerLogsRoute } from '../endpoints/logs/container-logs-route.ts'
import { createStreamRoutes } from '../endpoints/streams/stream-routes.ts'
import { dialStreamServer } from '../http/stream-server.ts'
import type { Verbosity } from '../../base/telemetry/create-logger.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface CreateKubeletApiDeps {
  readonly settings: Settings
  readonly runtime: { readonly calls: CriClient; readonly observer: Pick<Observer, 'uids' | 'get'> }
  readonly registry: Pick<PodRegistry, 'views'>
  readonly ownNode: Pick<OwnNode, 'node' | 'ips'>
  /** Undefined on a node without an API server. */
  readonly client: KubeClient | undefined
  readonly apiReturn: ApiReturn
  readonly rootDirectory: string
  readonly verbosity: Verbosity
  readonly metrics: AgentMetrics
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

const LOOPBACK = ['127.0.0.1', '::1']

/** Everything that the kubelet's own API serves, and what keeps its certificate and its metrics up to date. */
export async function createKubeletApi(
  deps: CreateKubeletApiDeps,
  group: TaskGroup,
): Promise<{ readonly api: KubeletApiDeps; readonly certificates: ServingCertificates }> {
  const { runtime, client, clock, random, verbosity } = deps
  const certificates = await openCertificates(deps)
  group.runLoop('serving certificate', (s) => certificates.run(s))
  const api = {
    client,
    certificates,
    containers: createContainerRoutes(deps),
    observed: () => runtime.observer.uids().flatMap((uid) => runtime.observer.get(uid) ?? []),
    verbosity,
    startedAt: clock.now(),
    random,
  }
  return { api, certificates }
}

async function openCertificates(deps: CreateKubeletApiDeps): Promise<ServingCertificates> {
  const { settings, ownNode, metrics } = deps
  const { config, flags, gates, nodeName } = settings
  return await openServingCertificates({
    ...deps,
    nodeName,
    folder: flags.certDir,
    tlsCertFile: config.tlsCertFile,
    tlsPrivateKeyFile: config.tlsPrivateKeyFile,
    serverTLSBootstrap: config.serverTLSBootstrap,
    reloads: gates.enabled('ReloadKubeletServerCertificateFile'),
    // A port on loopback alone is reached by name, and a machine that is on no network has nothing else.
    allowsNamesOnly: gates.enabled('AllowDNSOnlyNodeCSR') || LOOPBACK.includes(config.address),
    nodeIps: ownNode.ips(),
    nodeAddresses: () => ownNode.node().status?.addresses ?? [{ type: 'Hostname', address: nodeName }],
    metrics: {
      renewError: () => metrics.certificateRenewalFailed('server'),
      rotated: (seconds) => metrics.serverCertificateRotated(seconds),
    },
  })
}

/** Logs, exec and the like. */
function createContainerRoutes(deps: CreateKubeletApiDeps) {
  const { settings, runtime, registry, rootDirectory, metrics, clock, log } = deps
  const { config, gates } = settings
  const shared = { views: () => registry.views(), calls: runtime.calls, clock, log }
  return [
    createContainerLogsRoute({
      ...shared,
      openDirectory: openLogDirectory,
      podLogsDirectory: config.podLogsDir,
      splitStreams: gates.enabled('PodLogsQuerySplitStreams'),
    }),
    ...createStreamRoutes({
      ...shared,
      idleMs: config.streamingConnectionIdleTimeout,
      onWebSocket: (subresource) => metrics.webSocketRequest(subresource),
      dial: dialStreamServer,
      webSockets: gates.enabled('ExtendWebSocketsToKubelet'),
      checkpoints: gates.enabled('ContainerCheckpoint')
        ? {
            checkpointsDirectory: `${rootDirectory}/checkpoints`,
            makeDirectory: (path: string) => makeFolder(path, 0o700),
          }
        : undefined,
    }),
  ]
}
