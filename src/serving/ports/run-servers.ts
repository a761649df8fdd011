import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import type { KubeletApiDeps } from './run-kubelet-api.ts'
import { createOwnNamesCheck } from '../http/check-own-names.ts'
import { createDisabledDebugRoutes } from '../endpoints/disabled-routes.ts'
import { createHealthRoutes } from '../endpoints/health-routes.ts'
import type { HealthzCheck } from '../endpoints/health-routes.ts'
import { createMetricsRoute, createSlisRoute } from '../endpoints/metrics-routes.ts'
import { createPodsRoute } from '../endpoints/pods-routes.ts'
import { createImagesRoute } from '../endpoints/images-route.ts'
import type { ImagesRouteDeps } from '../endpoints/images-route.ts'
import { createWhyRoute } from '../endpoints/why-route.ts'
import { createLazyRoutes } from '../http/lazy-routes.ts'
import { computeConnectionLimits } from '../http/compute-connection-limits.ts'
import type { Route } from '../http/route.ts'
import { runPlainServer } from '../http/run-plain-server.ts'
import { runSocketServer } from './run-socket-server.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'

export interface RunServersDeps {
  readonly settings: Settings
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  readonly registry: Pick<PodRegistry, 'views' | 'explain'>
  /** The manifest files that are refused at the moment, and why. */
  readonly refusedManifests: () => readonly object[]
  /** What good manifests have that is not used. */
  readonly unusedFields: () => readonly object[]
  /** Where the volumes of a pod are. */
  readonly placesOf: (uid: PodUid) => readonly object[]
  readonly listImages: ImagesRouteDeps['listImages']
  readonly metrics: AgentMetrics
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly syncLoop: HealthzCheck
  /** Of the server at which device plugins present themselves. */
  readonly devicePlugins: HealthzCheck
  /** What the node and its pods use: made at the first request. */
  readonly statsRoutes: () => Promise<readonly Route[]>
  /** How many files this process may open, once that is settled. */
  readonly openFiles: Promise<number>
  /** What only the kubelet's API on its own port needs. */
  readonly apiDeps: () => Promise<KubeletApiDeps>
  /** The port for health checks answers, unless there is none or it is taken. What the pods do not need is loaded from now on. */
  readonly onAnswering: () => void
}

const HEALTHZ_BIND_RETRY_MS = 5000
const STATS = [
  { path: '/stats/summary', methods: ['GET', 'POST'] },
  { path: '/stats/history', methods: ['GET'] },
  { path: '/metrics/resource', methods: 'any' },
  { path: '/metrics/cadvisor', methods: 'any' },
] as const
// Root on this machine asks there without a credential, also while there is no API server that could judge one.
const AGENT_SOCKET = 'deckhand/agent.sock'
// Supervisors ask often, and are not part of its API.
const UNCOUNTED = { requestStarted() {}, requestEnded() {} }

/** Serves healthz and the read-only port where one is configured, and the socket for root; then the kubelet's API. */
export async function runServers(deps: RunServersDeps, signal: AbortSignal): Promise<void> {
  const { settings, metrics, tracer, clock, log } = deps
  const { config } = settings
  const health = createHealthRoutes({
    // Nothing here flushes a log later, so that one always passes.
    checks: {
      ping: () => undefined,
      log: () => undefined,
      syncloop: deps.syncLoop,
      'device-plugin': deps.devicePlugins,
    },
    onChecked: (name, isHealthy) => metrics.healthChecked(name, isHealthy),
  })
  const limits = computeConnectionLimits(await deps.openFiles)
  await using group = new TaskGroup(signal)
  const answering = Promise.withResolvers<void>()
  const onTried = () => {
    deps.onAnswering()
    answering.resolve()
  }
  if (config.healthzPort === 0) onTried()
  else {
    const server = {
      name: 'healthz',
      address: config.healthzBindAddress,
      port: config.healthzPort,
      bindRetryMs: HEALTHZ_BIND_RETRY_MS,
    }
    group.run('healthz', (s) =>
      runPlainServer({ ...server, routes: health, metrics: UNCOUNTED, limits, log, clock, onTried }, s).finally(
        answering.resolve,
      ),
    )
  }
  const sharedRoutes = [...createSharedRoutes(deps, health), ...createLazyRoutes(STATS, deps.statsRoutes)]
  if (!config.runOnce) {
    const socket = { name: 'agent socket', path: `${deps.rootDirectory}/${AGENT_SOCKET}`, metrics: UNCOUNTED }
    group.run('agent socket', (s) => runSocketServer({ ...socket, routes: sharedRoutes, limits, log, clock }, s))
  }
  if (config.readOnlyPort !== 0) {
    const routes = [...sharedRoutes, ...createDisabledDebugRoutes()]
    const checkAccess = createOwnNamesCheck([settings.nodeName])
    const server = { name: 'read-only', address: config.address, port: config.readOnlyPort, checkAccess }
    group.run('read-only', (s) => runPlainServer({ ...server, routes, metrics, tracer, limits, log, clock }, s))
  }
  if (config.enableServer) {
    group.run('kubelet API', async (s) => {
      // Loaded only now: pods, and whether they are looked after, come before their readers.
      await answering.promise
      const [{ runKubeletApi }, api] = await Promise.all([import('./run-kubelet-api.ts'), deps.apiDeps()])
      await runKubeletApi({ ...deps, sharedRoutes, api, limits }, s)
    })
  }
  await group.join()
}

/** What needs no right beyond seeing: the same on the ports and the socket. */
function createSharedRoutes(
  { registry, refusedManifests, unusedFields, placesOf, listImages, metrics, clock }: RunServersDeps,
  health: readonly Route[],
): readonly Route[] {
  return [
    ...health,
    createPodsRoute(() => registry.views()),
    createWhyRoute({ explain: () => registry.explain(), refusedManifests, unusedFields, placesOf }),
    createImagesRoute({ listImages, clock }),
    createMetricsRoute('/metrics', (format) => metrics.render(format)),
    createMetricsRoute('/metrics/probes', (format) => metrics.renderProbes(format)),
    createSlisRoute(
      (format) => metrics.renderHealth(format),
      () => metrics.resetHealth(),
    ),
  ]
}
