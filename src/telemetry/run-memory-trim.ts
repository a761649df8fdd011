import type { Clock } from '../async/clock.ts'

export interface MemoryTrimDeps {
  readonly clock: Clock
  /** How much was done so far; any measure that grows with the work. */
  readonly work: () => number
  /** Do others want the CPUs? A pause that is short by itself is long then. */
  readonly isMachineBusy: () => boolean
  /** What the process has of the machine's memory. */
  readonly residentBytes: () => number
  /** Gives the garbage of JavaScript back; a pause of some 50 ms. */
  readonly collectGarbage: () => void
  /** Gives back what malloc keeps; takes a few milliseconds. */
  readonly trimMalloc: () => void
}

const LOOK_MS = 5000
// So little in one interval is rest; so much more than before is worth the pause.
const REST = 5
const WORTH_BYTES = 6_000_000
// What was in use the last time may be free by now, and nobody notices the little that this takes.
const LATE_MS = 300_000

/**
 * Gives memory back after the start, after a burst of work and after a crowd of callers, once it is quiet. V8 and malloc by themselves keep
 * much of what those needed for as long as nothing is allocated, and on a node nothing may be allocated for days.
 */
export async function runMemoryTrim(deps: MemoryTrimDeps, signal: AbortSignal): Promise<void> {
  const { clock, work, isMachineBusy, residentBytes, collectGarbage, trimMalloc } = deps
  let trimmedAt = clock.monotonic()
  let left = 0
  for (let before = work(); ; before = work()) {
    await clock.sleep(LOOK_MS, signal)
    const isQuiet = work() - before <= REST && !isMachineBusy()
    const isWorth = isQuiet && residentBytes() - left >= WORTH_BYTES
    if (!isWorth && clock.monotonic() - trimmedAt < LATE_MS) continue
    if (isWorth) collectGarbage()
    trimMalloc()
    trimmedAt = clock.monotonic()
    left = residentBytes()
  }
}
