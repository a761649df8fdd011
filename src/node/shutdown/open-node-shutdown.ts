import type { TaskGroup } from '../../base/async/task-group.ts'
import type { LogindAccess } from './create-logind-access.ts'
import type { CreateNodeShutdownDeps, ShutdownParts } from './create-node-shutdown.ts'
import { isInterrupted, parseShutdownTimes } from './shutdown-state-file.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'

/** The graceful shutdown of the node, as its other parts see it from the start on. */
export interface OpenedShutdown {
  isShuttingDown(): boolean
  problems(): readonly string[]
  /** Listens for shutdowns until the signal aborts. */
  run(
    deps: Omit<CreateNodeShutdownDeps, 'file' | 'logind' | 'bootedAt'>,
    tasks: TaskGroup,
    signal: AbortSignal,
  ): Promise<void>
}

interface ShutdownFile {
  readonly path: string
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
  setAside(): Promise<string>
}

export interface OpenNodeShutdownDeps {
  readonly host: {
    readonly bootedAt: number | undefined
    stateFile(path: string): ShutdownFile
    openLogind(): Promise<LogindAccess>
  }
  readonly rootDirectory: string
  readonly log: Logger
}

/** Knows before the first pod is taken whether an agent was killed in the middle of a shutdown; all else is loaded after the pods. */
export async function openNodeShutdown({ host, rootDirectory, log }: OpenNodeShutdownDeps): Promise<OpenedShutdown> {
  const { bootedAt } = host
  const file = host.stateFile(`${rootDirectory}/graceful_node_shutdown_state`)
  const goesOn = await wasInterrupted(file, bootedAt, log)
  let shutdown: ShutdownParts | undefined
  return {
    isShuttingDown: () => shutdown?.isShuttingDown() ?? goesOn,
    problems: () => shutdown?.problems() ?? [],
    async run(deps, tasks, signal) {
      const [{ createNodeShutdown }, logind] = await Promise.all([
        import('./create-node-shutdown.ts'),
        host.openLogind(),
      ])
      const created = createNodeShutdown({ ...deps, file, logind, bootedAt }, tasks)
      await created.recall()
      shutdown = created
      deps.onChange()
      await created.run(signal)
    },
  }
}

async function wasInterrupted(file: ShutdownFile, bootedAt: number | undefined, log: Logger): Promise<boolean> {
  try {
    const text = await file.read()
    return text !== undefined && isInterrupted(parseShutdownTimes(text), bootedAt)
  } catch (error) {
    log.error('cannot read whether the node was being shut down, setting the file aside', {
      ...(await setAsideBroken(file, error)),
      error,
    })
    return false
  }
}
