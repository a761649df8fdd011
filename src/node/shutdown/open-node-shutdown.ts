import type { TaskGroup } from '../../base/async/task-group.ts'
import type { CreateNodeShutdownDeps, NodeShutdown } from './create-node-shutdown.ts'
import { readBootTime } from '../../system/machine/read-boot-time.ts'
import { readTextIfPresent } from '../../system/files/state-folder.ts'
import { isInterrupted, parseShutdownTimes } from './shutdown-times.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

/** The graceful shutdown of the node, as its other parts see it from the start on. */
export interface OpenedShutdown {
  isShuttingDown(): boolean
  problems(): readonly string[]
  /** Listens for shutdowns until the signal aborts. */
  run(
    deps: Omit<CreateNodeShutdownDeps, 'stateFile' | 'bootedAt'>,
    tasks: TaskGroup,
    signal: AbortSignal,
  ): Promise<void>
}

/** Knows before the first pod is taken whether an agent was killed in the middle of a shutdown; all else is loaded after the pods. */
export async function openNodeShutdown(rootDirectory: string, log: Logger): Promise<OpenedShutdown> {
  const stateFile = `${rootDirectory}/graceful_node_shutdown_state`
  const bootedAt = readBootTime()
  const goesOn = await wasInterrupted(stateFile, bootedAt, log)
  let shutdown: NodeShutdown | undefined
  return {
    isShuttingDown: () => shutdown?.isShuttingDown() ?? goesOn,
    problems: () => shutdown?.problems() ?? [],
    async run(deps, tasks, signal) {
      const { createNodeShutdown } = await import('./create-node-shutdown.ts')
      const created = createNodeShutdown({ ...deps, stateFile, bootedAt }, tasks)
      await created.recall()
      shutdown = created
      deps.onChange()
      await created.run(signal)
    },
  }
}

async function wasInterrupted(stateFile: string, bootedAt: number | undefined, log: Logger): Promise<boolean> {
  try {
    const text = await readTextIfPresent(stateFile)
    return text !== undefined && isInterrupted(parseShutdownTimes(text), bootedAt)
  } catch (error) {
    log.error('cannot read whether the node was being shut down', { stateFile, error })
    return false
  }
}
