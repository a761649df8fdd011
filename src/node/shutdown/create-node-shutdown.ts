import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { openDbus } from '../../system/dbus/dbus-connection.ts'
import { systemBusAddress } from '../../system/dbus/parse-bus-address.ts'
import { holdShutdownLock } from '../../system/machine/hold-shutdown-lock.ts'
import { readTextIfPresent } from '../../system/files/state/state-folder.ts'
import { computeShutdownPeriods } from './compute-shutdown-periods.ts'
import type { ShutdownPods } from './end-groups.ts'
import { LogindWatch } from './logind-watch.ts'
import { NodeShutdown, type NodeShutdownDeps } from './node-shutdown.ts'
import { runShutdownSocket } from './run-shutdown-socket.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { writeFileDurably } from '../../system/files/durable-file.ts'

export interface CreateNodeShutdownDeps extends Pick<NodeShutdownDeps, 'bootedAt' | 'events' | 'metrics' | 'onChange'> {
  readonly settings: Pick<Settings, 'config'>
  readonly registry: Pick<ShutdownPods, 'activePods'> & { readonly isComplete: boolean }
  readonly workers: Pick<ShutdownPods, 'shutDown' | 'runAgain'>
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  /** The file that keeps the time of the last shutdown. */
  readonly stateFile: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

const DELAY_FILE = '/etc/systemd/logind.conf.d/99-kubelet.conf'

export type ShutdownParts = ReturnType<typeof createNodeShutdown>

/** The graceful shutdown of this node: what announces it, and what it does to pods. */
export function createNodeShutdown(deps: CreateNodeShutdownDeps, tasks: TaskGroup) {
  const { settings, registry, workers, rootDirectory, stateFile, environment, clock, log } = deps
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
    file: { read: () => readTextIfPresent(stateFile), write: (text) => writeFileDurably(stateFile, text) },
    tasks,
  })
  const logind = new LogindWatch({
    shutdown,
    seconds: periods.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
    connect: (signal) => openDbus({ address: systemBusAddress(environment), clock }, signal),
    lock: (onLost, signal) => holdShutdownLock({ onLost }, signal),
    writeDelayFile: (text) => writeFileDurably(DELAY_FILE, text),
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
