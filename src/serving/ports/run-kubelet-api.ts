import process from 'node:process'
import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { toConfigDocument } from '../../model/config/kubelet-configuration.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { createAccess } from '../access/create-access.ts'
import { createHostJournal } from '../../system/machine/host-journal.ts'
import { createNodeLogs } from '../../system/directories/logs/node-logs.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { listFlagValues } from '../../model/config/flags/list-flag-values.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { createAuditLog } from '../http/audit.ts'
import { createKubeletRoutes } from '../endpoints/create-kubelet-routes.ts'
import type { EndpointSwitches } from '../endpoints/create-kubelet-routes.ts'
import type { computeConnectionLimits } from '../http/compute-connection-limits.ts'
import type { Route } from '../http/route.ts'
import { runKubeletServer } from '../http/run-kubelet-server.ts'
import type { Replaceable, ServingCertificate } from '../http/run-kubelet-server.ts'
import type { Verbosity } from '../../base/telemetry/create-logger.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'
import { createProfiler } from '../../base/telemetry/profiler.ts'
import { toTlsSettings } from '../http/to-tls-settings.ts'

export interface RunKubeletApiDeps {
  readonly settings: Settings
  readonly metrics: AgentMetrics
  readonly tracer: Tracer | undefined
  /** What the read-only port serves too. */
  readonly sharedRoutes: readonly Route[]
  readonly api: KubeletApiDeps
  readonly limits: ReturnType<typeof computeConnectionLimits>
  readonly clock: Clock
  readonly log: Logger
}

export interface KubeletApiDeps {
  /** Whom to ask about callers; undefined on a node without an API server. */
  readonly client: Pick<KubeClient, 'send'> | undefined
  readonly certificates: Replaceable<ServingCertificate>
  /** Logs, exec and the like. */
  readonly containers: readonly Route[]
  readonly observed: () => readonly ObservedPod[]
  readonly verbosity: Verbosity
  readonly startedAt: number
  readonly random: () => number
}

const NODE_LOGS = '/var/log'

/** Serves the kubelet's API on its own port. */
export async function runKubeletApi(deps: RunKubeletApiDeps, signal: AbortSignal): Promise<void> {
  const { settings, metrics, tracer, sharedRoutes, api, limits, clock, log } = deps
  await using group = new TaskGroup(signal)
  const { config } = settings
  const { client, certificates, random, observed, containers, verbosity } = api
  const access = await createAccess({ settings, client, metrics, clock, log, random }, group.signal)
  const routes = createKubeletRoutes({
    switches: toSwitches(settings),
    sharedRoutes,
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
  const { authorities, follow } = access
  if (follow !== undefined) group.run('client authorities', follow)
  const server = {
    address: config.address,
    port: config.port,
    routes,
    checkAccess: access.checkAccess,
    certificates,
    clientCa: authorities,
    tls: toTlsSettings(config),
    audit: createAuditLog(log),
    metrics,
    tracer,
    limits,
    clock,
    log,
  }
  group.run('kubelet server', (s) => runKubeletServer(server, s))
  await group.join()
}

function toSwitches({ config, gates }: Settings): EndpointSwitches {
  return {
    debugging: config.enableDebuggingHandlers,
    systemLogs: config.enableSystemLogHandler,
    systemLogQuery: config.enableSystemLogQuery,
    profiling: config.enableProfilingHandler,
    contention: config.enableContentionProfiling,
    debugFlags: config.enableDebugFlagsHandler,
    checkpoint: gates.enabled('ContainerCheckpoint'),
    flagz: gates.enabled('ComponentFlagz'),
    statusz: gates.enabled('ComponentStatusz'),
  }
}
