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
const LATE_MS = 120_000

/**
 * Gives memory back after the start, after a burst of work and after a crowd of callers, once it is quiet. V8 and malloc by themselves keep
 * much of what those needed for as long as nothing is allocated, and on a node nothing may be allocated for days.
 */
export async function runMemoryTrim(deps: MemoryTrimDeps, signal: AbortSignal): Promise<void> {
  const { clock, work, residentBytes, giveBack } = deps
  let [left, least] = [0, Infinity]
  let gaveAt = clock.monotonic()
  let isFresh = false
  for (let before = work(); ; before = work()) {
    await clock.sleep(LOOK_MS, signal)
    const resident = residentBytes()
    // V8 lets go of its pages some seconds later: only now it shows what is left.
    if (isFresh) [left, least, isFresh] = [resident, Math.min(least, resident), false]
    const isLate = clock.monotonic() - gaveAt >= LATE_MS
    const isQuiet = isLate || work() - before <= REST
    if (!isQuiet || resident - (isLate ? Math.min(left, least) : left) < WORTH_BYTES) continue
    giveBack()
    gaveAt = clock.monotonic()
    isFresh = true
  }
}
