import { systemClock } from '../../src/base/async/clock.ts'
import type { Clock } from '../../src/base/async/clock.ts'

const SPEED = 100

/** A clock that runs a hundred times as fast. */
export function createFastClock(): Clock {
  const [now, monotonic] = [systemClock.now(), systemClock.monotonic()]
  const passed = () => (systemClock.monotonic() - monotonic) * SPEED
  return {
    now: () => now + passed(),
    monotonic: () => monotonic + passed(),
    sleep: (ms, signal) => systemClock.sleep(ms / SPEED, signal),
  }
}
