import timers from 'node:timers/promises'

/** Time as an argument: nothing outside this folder reads a clock or waits by itself. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Milliseconds since the machine booted; only ever grows. For measuring how long something took, also across processes of one boot: what
   * one of them recorded, the next one can compare.
   */
  monotonic(): number
  /** Resolves after ms; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

// setTimeout fires at once for anything larger, so longer sleeps take several timers.
const LONGEST_TIMER_MS = 2 ** 31 - 1

// The clock of the kernel when that of this process was 0.
const PROCESS_STARTED_AT = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => PROCESS_STARTED_AT + performance.now(),
  async sleep(ms, signal) {
    signal.throwIfAborted()
    try {
      for (let left = ms; ; left -= LONGEST_TIMER_MS) {
        await timers.setTimeout(Math.min(left, LONGEST_TIMER_MS), undefined, { signal })
        if (left <= LONGEST_TIMER_MS) return
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  },
}
