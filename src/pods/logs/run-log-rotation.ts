import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { rotateLog } from './rotate-log.ts'
import type { LoggedContainer, RotateLogDeps } from './rotate-log.ts'

export interface LogRotationDeps extends RotateLogDeps {
  /** The containers that run now. */
  readonly containers: () => readonly LoggedContainer[]
  readonly limits: {
    /** A log of this size is rotated; negative: none ever is. */
    readonly maxSizeBytes: number
    readonly maxFiles: number
    /** How many logs are checked or rotated at the same time. */
    readonly maxWorkers: number
    readonly intervalMs: number
  }
}

/** Keeps the logs of containers small until the signal aborts. */
export async function runLogRotation(deps: LogRotationDeps, signal: AbortSignal): Promise<void> {
  const { clock, limits } = deps
  if (limits.maxSizeBytes < 0) return
  for (;;) {
    await clock.sleep(limits.intervalMs, signal)
    // One list for all workers: each takes the next container that is not taken yet.
    const queue = deps.containers().values()
    await Promise.all(Array.from({ length: limits.maxWorkers }, () => rotateAll(deps, queue, signal)))
  }
}

/** What goes wrong with one log is no reason to leave out the next. */
async function rotateAll(deps: LogRotationDeps, queue: Iterable<LoggedContainer>, signal: AbortSignal): Promise<void> {
  for (const container of queue) {
    if (signal.aborted) return
    try {
      await rotateLog(deps, container, signal)
    } catch (error) {
      if (signal.aborted) return
      // It was removed after the list was made.
      if (error instanceof CriCallError && error.code === 'NotFound') continue
      const { pod, name, logPath } = container
      deps.log.warn('cannot rotate a log', { pod, container: name, logPath, error })
    }
  }
}
