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
  // By hand: Node's own makes an error with a stack for each sleep that is aborted, which is how most of them end.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      let timer: NodeJS.Timeout | undefined
      const abort = () => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      }
      const wait = (left: number) => {
        timer = setTimeout(
          () => {
            if (left > LONGEST_TIMER_MS) {
              wait(left - LONGEST_TIMER_MS)
              return
            }
            signal.removeEventListener('abort', abort)
            resolve()
          },
          Math.min(left, LONGEST_TIMER_MS),
        )
      }
      signal.addEventListener('abort', abort, { once: true })
      wait(ms)
    }),
}
