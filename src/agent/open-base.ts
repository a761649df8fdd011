import type { Clock } from '../base/async/clock.ts'
import type { Loop } from '../base/async/loop.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import type { Cluster, JoinClusterDeps } from './join-cluster.ts'
import { createLoneMembership } from './membership.ts'
import type { MachineInfo } from '../system/machine/read-machine.ts'
import type { MemoryTrimDeps } from '../base/telemetry/run-memory-trim.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { ObjectApi } from '../pods/objects/object-api.ts'
import type { Verbosity } from '../base/telemetry/create-logger.ts'
import { createGuardedFiles } from '../system/guarded/create-guarded-files.ts'
import { findDeathSignal } from '../system/processes/find-death-signal.ts'
import { prepareRoot } from '../system/directories/prepare-root.ts'
import { deferMetrics } from '../metrics/defer-metrics.ts'
import type { AgentMetrics } from '../metrics/create-metrics.ts'
import { measureLoopDelay } from '../metrics/measure-loop-delay.ts'
import type { Tracing } from '../protocols/tracing/create-tracing.ts'

export interface KubeletDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  /** Where objects that pods refer to are read; undefined on a node without an API. */
  readonly objects: ObjectApi | undefined
  readonly resolvConf: string | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  readonly memory: Omit<MemoryTrimDeps, 'clock' | 'work'>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly write: (text: string) => void
  readonly verbosity: Verbosity
  /** Everything is up, and pods are served. */
  readonly onReady: (isHealthy: () => boolean) => Promise<void>
  /** Ends the agent: there is no way on without a new start. */
  readonly giveUp: (error: Error) => void
}

/** What ends with the agent. */
export interface Lifetime {
  /** Owns all work; its first failure ends the agent. */
  readonly tasks: TaskGroup
  /** Closed when no work is left. */
  readonly resources: DisposableStack
}

export type Base = Awaited<ReturnType<typeof openBase>>

/** Everything that needs nothing but the configuration: metrics, tracing, directories, the cluster. */
export async function openBase(deps: KubeletDeps, { tasks, resources }: Lifetime) {
  const { settings, clock, log } = deps
  const startedAt = clock.now()
  const loopDelay = measureLoopDelay()
  const metrics = deferMetrics()
  const guarded = resources.use(
    createGuardedFiles({ clock, log, launcher: await findDeathSignal(clock, tasks.signal) }),
  )
  const tracing = await openTracing(deps, metrics)
  if (tracing !== undefined) resources.use(tracing)
  const tracer = tracing?.tracer
  const rootDirectory = await prepareRoot(settings.flags.rootDir)
  const cluster = settings.standalone ? undefined : await openCluster({ ...deps, tracer }, metrics, tasks)
  const { nodeName } = settings
  const loops: readonly Loop[] = [
    ...(tracing === undefined ? [] : [{ name: 'tracing', run: (s: AbortSignal) => tracing.run(s) }]),
    ...(cluster?.loops ?? []),
  ]
  return {
    ...deps,
    tasks,
    resources,
    startedAt,
    loopDelay,
    metrics,
    /** For everything that pods control. */
    guarded,
    /** Undefined: nothing is traced. */
    tracer,
    /** --root-dir without symbolic links. */
    rootDirectory,
    /** Undefined on a node without an API. */
    cluster,
    membership: cluster?.membership ?? createLoneMembership({ objects: deps.objects, nodeName, log }),
    /** They run from now on: the cluster is followed while the runtime is waited for. */
    loops,
  }
}

/** Before the runtime is waited for: a mistake in the kubeconfig file is reported at once. Loaded only where there is a cluster. */
async function openCluster(
  deps: Omit<JoinClusterDeps, 'metrics'>,
  metrics: AgentMetrics,
  tasks: TaskGroup,
): Promise<Cluster> {
  const { joinCluster, toClusterMetrics } = await import('./join-cluster.ts')
  return await joinCluster({ ...deps, metrics: toClusterMetrics(metrics) }, tasks)
}

/** Loaded only where traces are configured. */
async function openTracing({ settings, clock, log }: KubeletDeps, metrics: AgentMetrics): Promise<Tracing | undefined> {
  const { tracing } = settings.config
  if (tracing === undefined) return undefined
  const { createTracing } = await import('../protocols/tracing/create-tracing.ts')
  return createTracing({
    ...tracing,
    attributes: { 'service.name': 'kubelet', 'host.name': settings.nodeName },
    version: settings.version,
    metrics,
    clock,
    log,
  })
}
