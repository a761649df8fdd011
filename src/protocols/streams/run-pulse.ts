import type { Clock } from '../../base/async/clock.ts'

// Clients ping every few seconds and give up after a minute.
const PULSE_MS = 10_000

/** Checks a connection every few seconds, until the signal aborts. */
export async function runPulse(clock: Clock, check: () => void | Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(PULSE_MS, signal)
    await check()
  }
}
