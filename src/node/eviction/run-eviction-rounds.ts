import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { computeMet } from './compute-eviction-step.ts'
import type { Observations } from './compute-observations.ts'
import { EvictionRounds } from './eviction-rounds.ts'
import type { EvictionRoundsDeps } from './eviction-rounds.ts'
import type { Threshold } from './threshold.ts'

export interface RunEvictionRoundsDeps extends EvictionRoundsDeps {
  /** Reads memory alone, to notice between two rounds when it runs short; undefined when that is not wanted. */
  readonly readMemory: (() => Observations) | undefined
  readonly clock: Clock
  readonly log: Logger
}

const QUICK_CHECK_MS = 1000

/** Protects the node until the signal aborts: every ten seconds, and at once after each eviction, since one may not be enough. */
export async function runEvictionRounds(deps: RunEvictionRoundsDeps, signal: AbortSignal): Promise<void> {
  const { thresholds, localStorage, clock, log } = deps
  if (thresholds.length === 0 && !localStorage) return
  const rounds = new EvictionRounds(deps)
  let isFailing = false
  for (;;) {
    try {
      while (await rounds.round(signal));
      isFailing = false
      await rest(deps, rounds.restMs, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!isFailing) log.warn('cannot check for node pressure, will try again', { error })
      isFailing = true
      await clock.sleep(rounds.restMs, signal)
    }
  }
}

/** Until the next round is due, or memory runs short before. */
async function rest(
  { thresholds, readMemory, clock }: Pick<RunEvictionRoundsDeps, 'thresholds' | 'readMemory' | 'clock'>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (readMemory === undefined) return await clock.sleep(ms, signal)
  // What is short already is seen to at the usual pace.
  let before: readonly Threshold[] | undefined
  for (let rested = 0; rested < ms; rested += QUICK_CHECK_MS) {
    const met = computeMet(thresholds, readMemory(), { withReclaim: false })
    if (met.some((threshold) => before?.includes(threshold) === false)) return
    before = met
    await clock.sleep(QUICK_CHECK_MS, signal)
  }
}
