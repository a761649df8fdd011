import { setTimeout as delay } from 'node:timers/promises'

/** Time as an argument: nothing outside this folder reads a clock or waits by itself. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds from any fixed point; only ever grows. For measuring how long something took. */
  monotonic(): number
  /** Resolves after ms; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

// setTimeout fires at once for anything larger.
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal.throwIfAborted()
    try {
      await delay(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal })
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  },
}
