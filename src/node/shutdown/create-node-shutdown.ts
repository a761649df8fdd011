import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { computeShutdownPeriods } from './compute-shutdown-periods.ts'
import type { ShutdownPods } from './end-groups.ts'
import type { LogindAccess } from './create-logind-access.ts'
import { LogindWatch } from './logind-watch.ts'
import { NodeShutdown, type NodeShutdownDeps } from './node-shutdown.ts'
import { runShutdownSocket } from './run-shutdown-socket.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface CreateNodeShutdownDeps extends Pick<NodeShutdownDeps, 'bootedAt' | 'events' | 'metrics' | 'onChange'> {
  readonly settings: Pick<Settings, 'config'>
  readonly registry: Pick<ShutdownPods, 'activePods'> & { readonly isComplete: boolean }
  readonly workers: Pick<ShutdownPods, 'shutDown' | 'runAgain'>
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  /** Keeps the time of the last shutdown. */
  readonly file: NodeShutdownDeps['file']
  readonly logind: LogindAccess
  readonly clock: Clock
  readonly log: Logger
}

export type ShutdownParts = ReturnType<typeof createNodeShutdown>

/** The graceful shutdown of this node: what announces it, and what it does to pods. */
export function createNodeShutdown(deps: CreateNodeShutdownDeps, tasks: TaskGroup) {
  const { settings, registry, workers, rootDirectory, clock, log } = deps
  const periods = computeShutdownPeriods(settings.config)
  const shutdown = new NodeShutdown({
    ...deps,
    pods: {
      activePods: () => registry.activePods(),
      shutDown: (...pod) => workers.shutDown(...pod),
      runAgain: () => workers.runAgain(),
      areKnown: () => registry.isComplete,
    },
    periods,
    tasks,
  })
  const logind = new LogindWatch({
    shutdown,
    seconds: periods.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
    ...deps.logind,
    clock,
    log,
  })
  return {
    isShuttingDown: () => shutdown.isShuttingDown,
    problems: () => shutdown.problems(),
    /** To be called once, before the listening. */
    recall: () => shutdown.recall(),

    /** Listens for shutdowns until the signal aborts: from logind when pods get time at one, and by command. */
    async run(signal: AbortSignal): Promise<void> {
      await using group = new TaskGroup(signal)
      if (periods.length > 0) group.run('logind', (s) => logind.run(s))
      group.run('shutdown socket', (s) =>
        runShutdownSocket({ shutdown, path: `${rootDirectory}/deckhand/shutdown.sock`, log }, s),
      )
      await group.join()
    },
  }
}
