import type { Clock } from '../async/clock.ts'

export interface MemoryTrimDeps {
  readonly clock: Clock
  /** How much was done so far; any measure that grows with the work. */
  readonly work: () => number
  /** What the process has of the machine's memory. */
  readonly residentBytes: () => number
  /** Gives all back that is not in use; takes some 20 ms. */
  readonly giveBack: () => void
}

const LOOK_MS = 5000
// So little in one interval is rest; so much more than before is worth the pause.
const REST = 5
const WORTH_BYTES = 6_000_000
// After so long the pause does not matter, and what was in use the last time may be free.
const LATE_MS = 300_000

/**
 * Gives memory back after the start, after a burst of work and after a crowd of callers, once it is quiet. V8 and malloc by themselves keep
 * much of what those needed for as long as nothing is allocated, and on a node nothing may be allocated for days.
 */
export async function runMemoryTrim(deps: MemoryTrimDeps, signal: AbortSignal): Promise<void> {
  const { clock, work, residentBytes, giveBack } = deps
  let gaveAt = clock.monotonic()
  let left = 0
  for (let before = work(); ; before = work()) {
    await clock.sleep(LOOK_MS, signal)
    const isQuiet = work() - before <= REST
    const isMore = residentBytes() - left >= WORTH_BYTES
    const isLate = clock.monotonic() - gaveAt >= LATE_MS
    // V8 lets go of its pages some seconds later, so that less may be left than it seemed.
    left = Math.min(left, residentBytes())
    if (!(isQuiet && isMore) && !isLate) continue
    giveBack()
    gaveAt = clock.monotonic()
    left = residentBytes()
  }
}
