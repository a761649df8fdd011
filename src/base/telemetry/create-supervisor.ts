import { isFatal } from '../async/abort-errors.ts'
import { BackOff } from '../async/back-off.ts'
import type { Clock } from '../async/clock.ts'
import type { Supervisor } from '../async/task-group.ts'
import type { Logger } from './logger.ts'

export interface SupervisorDeps {
  readonly metrics: {
    /** A loop failed and is run again. */
    loopFailed(loop: string): void
    /** Work that nothing repeats failed. */
    taskFailed(): void
  }
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

const RETRY = { firstMs: 1000, longestMs: 60_000, jitter: { least: 1, extra: 0.1 } }
// A loop that went on for so long had recovered from what made it fail before.
const RECOVERED_MS = 300_000

/** Keeps a failure (no descriptor to spare, a file that cannot be read) the trouble of the one loop that it happened to. */
export function createSupervisor({ metrics, clock, random, log }: SupervisorDeps): Supervisor {
  return {
    taskFailed(task, error) {
      metrics.taskFailed()
      log.error('a task of the agent failed, the others go on', { task, error })
    },
    async runLoop(name, loop, signal) {
      const backOff = new BackOff(RETRY, random)
      for (;;) {
        const startedAt = clock.monotonic()
        try {
          await loop(signal)
          return
        } catch (error) {
          if (signal.aborted) throw signal.reason
          if (isFatal(error)) throw error
          if (clock.monotonic() - startedAt >= RECOVERED_MS) backOff.reset()
          const retryMs = Math.round(backOff.next())
          metrics.loopFailed(name)
          log.error('a loop of the agent failed, will run it again', { loop: name, retryMs, error })
          await clock.sleep(retryMs, signal)
        }
      }
    },
  }
}
