import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import type { Observer } from '../../pods/observe/observer.ts'
import { openLogDirectory } from '../../system/directories/logs/log-directory.ts'
import { makeFolder } from '../../system/files/state/durable-file.ts'
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
  /** Undefined on a node without an API server. */
  readonly client: KubeletApiDeps['client']
  readonly certificates: KubeletApiDeps['certificates']
  readonly rootDirectory: string
  readonly verbosity: Verbosity
  readonly metrics: AgentMetrics
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** What only the kubelet's own API serves, and to whom. */
export function createKubeletApiDeps(deps: CreateKubeletApiDeps): KubeletApiDeps {
  const { runtime, client, certificates, clock, random, verbosity } = deps
  return {
    client,
    certificates,
    containers: createContainerRoutes(deps),
    observed: () => runtime.observer.uids().flatMap((uid) => runtime.observer.get(uid) ?? []),
    verbosity,
    startedAt: clock.now(),
    random,
  }
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
