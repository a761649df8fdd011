import process from 'node:process'
import type { Clock } from './async/clock.ts'
import { TaskGroup } from './async/task-group.ts'
import { toConfigDocument } from './config/kubelet-configuration.ts'
import type { Settings } from './config/load-configuration.ts'
import { createAccess } from './create-access.ts'
import { createHostJournal } from './host/host-journal.ts'
import { createNodeLogs } from './host/node-logs.ts'
import type { KubeClient } from './kube-api/kube-client.ts'
import { listFlagValues } from './list-flag-values.ts'
import type { ObservedPod } from './model/observed-pod.ts'
import type { PodWorkers } from './pods/pod-workers.ts'
import { createAuditLog } from './server/audit.ts'
import { createKubeletRoutes } from './server/create-kubelet-routes.ts'
import type { EndpointSwitches } from './server/create-kubelet-routes.ts'
import { createDisabledDebugRoutes } from './server/endpoints/disabled-routes.ts'
import { createMetricsRoute, createSlisRoute } from './server/endpoints/metrics-routes.ts'
import { createPodsRoute } from './server/endpoints/pods-routes.ts'
import { createWhyRoute } from './server/endpoints/why-route.ts'
import type { Route } from './server/route.ts'
import { runKubeletServer } from './server/run-kubelet-server.ts'
import type { Replaceable, ServingCertificate } from './server/run-kubelet-server.ts'
import { runPlainServer } from './server/run-plain-server.ts'
import type { Verbosity } from './telemetry/create-logger.ts'
import type { AgentMetrics } from './telemetry/create-metrics.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Tracer } from './telemetry/tracer.ts'
import { createProfiler } from './telemetry/profiler.ts'
import { toTlsSettings } from './to-tls-settings.ts'

export interface KubeletPortsDeps {
  readonly settings: Settings
  readonly workers: PodWorkers
  readonly metrics: AgentMetrics
  readonly tracer: Tracer | undefined
  readonly health: readonly Route[]
  readonly clock: Clock
  readonly log: Logger
  /** What only the kubelet's API on its own port needs; undefined: it is not served. */
  readonly api: KubeletApiDeps | undefined
}

export interface KubeletApiDeps {
  /** Whom to ask about callers; undefined on a node without an API server. */
  readonly client: Pick<KubeClient, 'send'> | undefined
  readonly certificates: Replaceable<ServingCertificate>
  /** Stats: served on the read-only port too. */
  readonly open: readonly Route[]
  /** Logs, exec and the like. */
  readonly containers: readonly Route[]
  readonly observed: () => readonly ObservedPod[]
  readonly verbosity: Verbosity
  readonly startedAt: number
  readonly random: () => number
}

const NODE_LOGS = '/var/log'

/** Serves the read-only port where one is configured, and the kubelet's API. */
export async function runKubeletPorts(deps: KubeletPortsDeps, signal: AbortSignal): Promise<void> {
  const { settings, metrics, tracer, clock, log, api } = deps
  const { config } = settings
  const open = [...createOpenRoutes(deps), ...(api?.open ?? [])]
  await using group = new TaskGroup(signal)
  if (config.readOnlyPort !== 0) {
    const routes = [...open, ...createDisabledDebugRoutes()]
    const server = { name: 'read-only', address: config.address, port: config.readOnlyPort }
    group.run('read-only', (s) => runPlainServer({ ...server, routes, metrics, tracer, log, clock }, s))
  }
  if (api !== undefined) await runApi({ ...deps, api }, open, group)
  await group.join()
}

/** What needs no right beyond seeing: the same on both ports. */
function createOpenRoutes({ workers, metrics, health }: KubeletPortsDeps): readonly Route[] {
  return [
    ...health,
    createPodsRoute(() => workers.views()),
    createWhyRoute(() => workers.explain()),
    createMetricsRoute('/metrics', (format) => metrics.render(format)),
    createMetricsRoute('/metrics/probes', (format) => metrics.renderProbes(format)),
    createSlisRoute(
      (format) => metrics.renderHealth(format),
      () => metrics.resetHealth(),
    ),
  ]
}

async function runApi(
  { settings, metrics, tracer, clock, log, api }: KubeletPortsDeps & { readonly api: KubeletApiDeps },
  open: readonly Route[],
  group: TaskGroup,
): Promise<void> {
  const { config } = settings
  const { client, certificates, random, observed, containers, verbosity } = api
  const access = await createAccess({ settings, client, clock, log, random }, group.signal)
  const routes = createKubeletRoutes({
    switches: toSwitches(settings),
    open,
    containers,
    observed,
    configuration: () => toConfigDocument(config),
    flags: () => listFlagValues(settings),
    status: () => ({
      startedAt: api.startedAt,
      uptimeSeconds: (clock.now() - api.startedAt) / 1000,
      platformVersion: `node${process.version}`,
      version: settings.version,
      emulatedVersion: settings.version,
    }),
    logs: createNodeLogs(NODE_LOGS),
    journal: createHostJournal({ clock }),
    verbosity,
    profiler: createProfiler(clock),
    commandLine: process.argv,
  })
  const { authorities } = access
  if (authorities !== undefined) group.run('client authorities', (s) => authorities.run(s))
  const server = {
    address: config.address,
    port: config.port,
    routes,
    admit: access.admit,
    certificates,
    clientCa: authorities,
    tls: toTlsSettings(config),
    audit: createAuditLog(log),
    metrics,
    tracer,
    clock,
    log,
  }
  group.run('kubelet server', (s) => runKubeletServer(server, s))
}

function toSwitches({ config, gates }: Settings): EndpointSwitches {
  return {
    debugging: config.enableDebuggingHandlers,
    systemLogs: config.enableSystemLogHandler,
    systemLogQuery: config.enableSystemLogQuery,
    profiling: config.enableProfilingHandler,
    debugFlags: config.enableDebugFlagsHandler,
    checkpoint: gates.enabled('ContainerCheckpoint'),
    flagz: gates.enabled('ComponentFlagz'),
    statusz: gates.enabled('ComponentStatusz'),
  }
}
