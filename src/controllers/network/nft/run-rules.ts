import { BackOff } from '../../../base/async/back-off.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { Wakeup } from '../../../base/async/wakeup.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'

/** How long to wait after failures of the kernel's rules. */
export const RULES_RETRY = { firstMs: 100, longestMs: 30_000 }

export interface RulesLoop {
  readonly clock: Clock
  readonly log: Logger
  readonly wakeup: Wakeup
  /** For the log: "the rules of …". */
  readonly subject: string
  /** How long changes are gathered, to be written together. */
  readonly gatherMs: number
}

/** Writes rules of the kernel now, after each change and after the pause that was asked for, until the signal aborts. What fails is tried again. */
export async function runRules(
  { clock, log, wakeup, subject, gatherMs }: RulesLoop,
  sync: (signal: AbortSignal) => Promise<number | undefined>,
  signal: AbortSignal,
): Promise<never> {
  const backOff = new BackOff(RULES_RETRY)
  for (;;) {
    let pauseMs: number | undefined
    try {
      pauseMs = await sync(signal)
      backOff.reset()
    } catch (error) {
      signal.throwIfAborted()
      pauseMs = backOff.next()
      log.warn(`cannot write the rules of ${subject}, will try again`, { error, pauseMs })
    }
    await wakeup.wait({ clock, ms: pauseMs }, signal)
    await clock.sleep(gatherMs, signal)
  }
}
