import type { Clock } from './async/clock.ts'
import { TaskGroup } from './async/task-group.ts'
import type { Settings } from './config/load-configuration.ts'
import type { PodWorkers } from './pods/pod-workers.ts'
import { createHealthRoutes } from './server/health-routes.ts'
import type { HealthCheck } from './server/health-routes.ts'
import { createPodsRoute } from './server/pods-route.ts'
import { createWhyRoute } from './server/why-route.ts'
import { runHttpServer } from './server/run-http-server.ts'
import type { AgentMetrics } from './telemetry/create-metrics.ts'
import type { Logger } from './telemetry/logger.ts'

export interface RunServersDeps {
  readonly settings: Settings
  readonly workers: PodWorkers
  readonly metrics: AgentMetrics
  readonly clock: Clock
  readonly log: Logger
  readonly syncLoop: HealthCheck
}

const HEALTHZ_BIND_RETRY_MS = 5000

/** Serves healthz, and the read-only port where one is configured. */
export async function runServers(deps: RunServersDeps, signal: AbortSignal): Promise<void> {
  const { settings, workers, metrics, clock, log } = deps
  const { config } = settings
  const health = createHealthRoutes({ ping: () => undefined, log: () => undefined, syncloop: deps.syncLoop })
  await using group = new TaskGroup(signal)
  if (config.healthzPort !== 0) {
    const server = {
      name: 'healthz',
      address: config.healthzBindAddress,
      port: config.healthzPort,
      bindRetryMs: HEALTHZ_BIND_RETRY_MS,
    }
    group.run('healthz', (s) => runHttpServer({ ...server, routes: health, log, clock }, s))
  }
  if (config.readOnlyPort !== 0) {
    const routes = {
      ...health,
      '/pods': createPodsRoute(() => workers.views()),
      '/why': createWhyRoute(() => workers.explain()),
      '/metrics': async () => ({ status: 200, ...(await metrics.render()) }),
    }
    group.run('read-only', (s) =>
      runHttpServer({ name: 'read-only', address: config.address, port: config.readOnlyPort, routes, log, clock }, s),
    )
  }
  await group.join()
}
