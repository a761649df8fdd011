import type { Clock } from '../base/async/clock.ts'
import type { Loop } from '../base/async/loop.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { createSetCredentialsAside, withStateFileReports } from '../system/directories/with-state-file-reports.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import type { MachineInfo } from '../system/machine/read-machine.ts'
import type { MemoryTrimDeps } from '../base/telemetry/run-memory-trim.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { ObjectApi } from '../pods/objects/object-api.ts'
import type { Verbosity } from '../base/telemetry/create-logger.ts'
import type { Edges } from './edges.ts'
import type { LoopDelay } from '../metrics/process-metrics.ts'

export interface KubeletDeps extends Edges {
  readonly settings: Settings
  readonly machine: MachineInfo
  /** Where objects that pods refer to are read; undefined on a node without an API. */
  readonly objects: ObjectApi | undefined
  /** How many files this process may open, once that is settled. */
  readonly openFiles: Promise<number>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  /** How late the event loop is. */
  readonly loopDelay: LoopDelay
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
  /** Owns all work. Only a worker of a pod that breaks, or a FatalError, ends the agent; else loops run again. */
  readonly tasks: TaskGroup
  /** Closed when no work is left. */
  readonly resources: DisposableStack
}

export type Base = Awaited<ReturnType<typeof openBase>>

/** Everything that needs nothing but the configuration: metrics, tracing, directories, the cluster. */
export async function openBase(deps: KubeletDeps, { tasks, resources }: Lifetime) {
  const { settings, clock } = deps
  const startedAt = clock.now()
  const guarded = resources.use(deps.host.openGuardedFiles(tasks.signal))
  const tracing = await deps.openTracing()
  if (tracing !== undefined) resources.use(tracing)
  const tracer = tracing?.tracer
  const rootDirectory = await deps.host.prepareRoot(settings.flags.rootDir, settings.config.podLogsDir)
  // Before the runtime is waited for: a mistake in the kubeconfig file is reported at once.
  const { cluster, membership } = await deps.join(tracer, tasks)
  const reports = { metrics: deps.metrics, events: membership.nodeEvents, clock }
  const stateFiles = withStateFileReports(deps.host, reports, tasks.signal)
  const loops: readonly Loop[] = [
    ...(tracing === undefined ? [] : [{ name: 'tracing', run: (s: AbortSignal) => tracing.run(s) }]),
    ...(cluster?.loops ?? []),
  ]
  return {
    ...deps,
    host: { ...deps.host, ...stateFiles },
    /** Sets files with credentials of the node aside, and reports it. */
    setAside: createSetCredentialsAside(reports),
    tasks,
    resources,
    startedAt,
    /** For everything that pods control. */
    guarded,
    /** Undefined: nothing is traced. */
    tracer,
    /** --root-dir without symbolic links. */
    rootDirectory,
    /** Undefined on a node without an API. */
    cluster,
    membership,
    /** They run from now on: the cluster is followed while the runtime is waited for. */
    loops,
  }
}
