import type { Clock } from './async/clock.ts'
import { TaskGroup } from './async/task-group.ts'
import type { Settings } from './config/load-configuration.ts'
import type { PodWorkers } from './pods/pod-workers.ts'
import type { KubeletApiDeps } from './run-kubelet-ports.ts'
import { createHealthRoutes } from './server/endpoints/health-routes.ts'
import type { HealthCheck } from './server/endpoints/health-routes.ts'
import { runPlainServer } from './server/run-plain-server.ts'
import type { AgentMetrics } from './telemetry/create-metrics.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Tracer } from './telemetry/tracer.ts'

export interface RunServersDeps {
  readonly settings: Settings
  readonly workers: PodWorkers
  readonly metrics: AgentMetrics
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly syncLoop: HealthCheck
  /** What only the kubelet's API on its own port needs. */
  readonly createApi: () => Promise<KubeletApiDeps>
}

const HEALTHZ_BIND_RETRY_MS = 5000
// Whoever watches over the agent asks often, and is not part of its API.
const UNCOUNTED = { requestStarted() {}, requestEnded() {} }

/** Serves healthz at once; then the read-only port where one is configured, and the kubelet's API. */
export async function runServers(deps: RunServersDeps, signal: AbortSignal): Promise<void> {
  const { settings, metrics, clock, log } = deps
  const { config } = settings
  const health = createHealthRoutes({
    checks: { ping: () => undefined, log: () => undefined, syncloop: deps.syncLoop },
    onChecked: (name, isHealthy) => metrics.healthChecked(name, isHealthy),
  })
  await using group = new TaskGroup(signal)
  if (config.healthzPort !== 0) {
    const server = {
      name: 'healthz',
      address: config.healthzBindAddress,
      port: config.healthzPort,
      bindRetryMs: HEALTHZ_BIND_RETRY_MS,
    }
    group.run('healthz', (s) => runPlainServer({ ...server, routes: health, metrics: UNCOUNTED, log, clock }, s))
  }
  group.run('ports', async (s) => {
    const api = config.enableServer ? await deps.createApi() : undefined
    if (api === undefined && config.readOnlyPort === 0) return
    // Loaded only now: pods come before those who look at them.
    const { runKubeletPorts } = await import('./run-kubelet-ports.ts')
    await runKubeletPorts({ ...deps, health, api }, s)
  })
  await group.join()
}
