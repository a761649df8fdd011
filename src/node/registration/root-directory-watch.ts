import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { EventRepeats } from '../../model/events/event-repeats.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'

interface RootDirectoryWatchDeps {
  readonly rootDirectory: string
  /** Fails when nothing can be written in the folder. */
  readonly checkWritable: (folder: string) => Promise<void>
  readonly events: NodeEvents
  /** What problems() says is another than before. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly log: Logger
}

// As often as the status of the node is computed.
const CHECK_MS = 10_000

/**
 * Notices that the root directory cannot be written, most often because the kernel made its file system read-only after an error of the disk. What
 * runs goes on, but no pod can start, and nothing of those that end can be removed: the node is not ready, so that pods are sent elsewhere.
 */
export class RootDirectoryWatch {
  readonly #deps: RootDirectoryWatchDeps
  readonly #reported = new EventRepeats<string>(new Map())
  #problem: string | undefined

  constructor(deps: RootDirectoryWatchDeps) {
    this.#deps = deps
  }

  /** Why the node is not ready; empty while it is. */
  problems(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem]
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.check()
      await this.#deps.clock.sleep(CHECK_MS, signal)
    }
  }

  async check(): Promise<void> {
    const { rootDirectory, checkWritable, events, onChange, clock, log } = this.#deps
    const error = await checkWritable(rootDirectory).then(
      () => undefined,
      (failure: unknown) => failure,
    )
    const problem = error === undefined ? undefined : `root directory is not writable: ${errorMessage(error)}`
    if (problem !== undefined && this.#reported.isDue(rootDirectory, problem, clock.monotonic()))
      events.record({ type: 'Warning', reason: 'RootDirectoryNotWritable', message: problem })
    if (problem === this.#problem) return
    this.#problem = problem
    if (problem === undefined) {
      this.#reported.forget(rootDirectory)
      log.info('the root directory can be written again', { rootDirectory })
    } else log.error('nothing can be written in the root directory: no pod can start', { rootDirectory, error })
    onChange()
  }
}
