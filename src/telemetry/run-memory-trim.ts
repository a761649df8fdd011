import type { Clock } from '../async/clock.ts'

export interface MemoryTrimDeps {
  readonly clock: Clock
  /** How much was done so far; any measure that grows with the work. */
  readonly work: () => number
  /** Collects all garbage at once; takes some 20 ms. */
  readonly collect: () => void
}

const LOOK_MS = 10_000
// So little in one interval is rest; so much since the last time is worth the pause.
const REST = 10
const WORTH = 200

/**
 * Gives memory back after a burst of work, once it is quiet. V8 by itself keeps what a roll-out needed for as long as nothing is
 * allocated, and on a node nothing may be allocated for days.
 */
export async function runMemoryTrim({ clock, work, collect }: MemoryTrimDeps, signal: AbortSignal): Promise<void> {
  let trimmedAt = 0
  for (let before = work(); ; before = work()) {
    await clock.sleep(LOOK_MS, signal)
    if (work() - before > REST || work() - trimmedAt < WORTH) continue
    trimmedAt = work()
    collect()
  }
}
