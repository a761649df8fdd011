import type { Clock } from '../async/clock.ts'

export interface MemoryTrimDeps {
  readonly clock: Clock
  /** How much was done so far; any measure that grows with the work. */
  readonly work: () => number
  /** For how long the machine's CPUs had nothing to do so far, all of them added up. */
  readonly idleCpuMs: () => number
  /** What the process has of the machine's memory, but for what is in files too. */
  readonly residentBytes: () => number
  /** Gives the garbage of JavaScript back, and says how many milliseconds that took: some 50, more with more pods. */
  readonly collectGarbage: () => number
  /** Gives back what malloc keeps; takes a few milliseconds. */
  readonly trimMalloc: () => void
  /** Gives up the pages of programs that are not used at the moment; takes a few milliseconds. */
  readonly unmapCode: () => void
}

const CHECK_MS = 5000
// So little in one interval is rest; so much more than before is worth the pause.
const REST = 5
// With less than half a CPU left over others want them too, and a pause that is short by itself becomes long.
const IDLE_MS = CHECK_MS / 2
// On a machine whose CPUs are never free the one long pause is better than keeping the memory for ever.
const LONG_REST_CHECKS = 12
const WORTH_BYTES = 6_000_000
const MUCH_BYTES = 24_000_000
// What was in use the last time may be free by now, and this costs next to nothing.
const LATE_MS = 300_000
// Collections take at most a thousandth of a core, as other threads work on one about as long as this one: a little garbage that soon comes back is how the process works at the moment, not what a burst left.
const PAUSE_PER_COLLECTION = 2000
const LEAST_PAUSE_MS = 10_000
// Much of it is worth a collection sooner.
const SOONER = 8

/**
 * Gives memory back after the start, after a burst of work and after a crowd of callers, once it is quiet. V8 and malloc by themselves keep
 * much of what those needed for as long as nothing is allocated, and on a node nothing may be allocated for days.
 */
export async function runMemoryTrim(deps: MemoryTrimDeps, signal: AbortSignal): Promise<void> {
  const { clock, work, idleCpuMs, residentBytes, collectGarbage, trimMalloc, unmapCode } = deps
  let trimmedAt = clock.monotonic()
  let collectedAt = Number.NEGATIVE_INFINITY
  let pauseMs = LEAST_PAUSE_MS
  let left = 0
  let isStart = true
  let checksAtRest = 0
  for (;;) {
    const before = { work: work(), idleMs: idleCpuMs() }
    await clock.sleep(CHECK_MS, signal)
    // However busy the machine is: most of what a start needs of a program is never needed again.
    if (isStart) unmapCode()
    isStart = false
    checksAtRest = work() - before.work <= REST ? checksAtRest + 1 : 0
    const areCpusFree = idleCpuMs() - before.idleMs >= IDLE_MS
    const isQuiet = checksAtRest > 0 && (areCpusFree || checksAtRest >= LONG_REST_CHECKS)
    const now = clock.monotonic()
    const sinceMs = now - collectedAt
    const worthBytes = sinceMs >= pauseMs ? WORTH_BYTES : MUCH_BYTES
    const isWorth = isQuiet && sinceMs >= pauseMs / SOONER && residentBytes() - left >= worthBytes
    if (!isWorth && now - trimmedAt < LATE_MS) continue
    if (isWorth) {
      collectedAt = now
      pauseMs = Math.min(Math.max(PAUSE_PER_COLLECTION * collectGarbage(), LEAST_PAUSE_MS), LATE_MS)
    }
    trimMalloc()
    unmapCode()
    trimmedAt = now
    left = residentBytes()
  }
}
