import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { runProcess } from '../processes/run-process.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** A mount or unmount that failed, with the words of mount(8). */
export class MountError extends Error {
  override readonly name = 'MountError'
  /** It was given up while it still ran, so it may happen yet. */
  readonly uncertain: boolean

  constructor(message: string, options: { readonly uncertain: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.uncertain = options.uncertain
  }
}

export interface RunMountDeps {
  readonly clock: Clock
  readonly run?: typeof runProcess
}

const SAID_CHARACTERS = 1000

/** Runs mount(8) or umount(8); any end but a good one is a MountError that says what was to be done. */
export function createRunMount({ clock, run = runProcess }: RunMountDeps) {
  return async (
    request: { readonly what: string; readonly argv: readonly string[]; readonly deadlineMs: number },
    signal: AbortSignal,
  ): Promise<void> => {
    const { what, argv, deadlineMs } = request
    const result = await run(clock, { argv, deadlineMs }, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      const state =
        error instanceof DeadlineError ? `${argv[0]} did not end within ${deadlineMs} ms` : errorMessage(error)
      throw new MountError(`Cannot ${what}: ${state}`, { uncertain: error instanceof DeadlineError, cause: error })
    })
    if (result.exitCode === 0) return
    const said = result.stderr.trim().slice(-SAID_CHARACTERS)
    const end = result.exitCode === undefined ? 'was killed' : `ended with exit code ${result.exitCode}`
    throw new MountError(`Cannot ${what}: ${argv[0]} ${end}: ${said}`, { uncertain: result.exitCode === undefined })
  }
}
