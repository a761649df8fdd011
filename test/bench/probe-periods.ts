/** A stretch of time in which something should happen in every period; all in milliseconds. */
export interface PeriodWindow {
  readonly from: number
  readonly to: number
  readonly periodMs: number
}

// A run may be late by less than half a period without counting as left out; the next one is then due as before.
const JITTER_PARTS = 0.5

/** How many periods nothing happened in: each gap counts for the periods that it is too long by. */
export function countMissedPeriods(times: readonly number[], window: PeriodWindow): number {
  return gapsOf(times, window)
    .map((gap) => Math.floor(gap / window.periodMs - JITTER_PARTS))
    .reduce((sum, missed) => sum + Math.max(0, missed), 0)
}

/** The longest time in which nothing happened, the window's edges included. */
export function longestGap(times: readonly number[], window: PeriodWindow): number {
  return Math.max(...gapsOf(times, window))
}

function gapsOf(times: readonly number[], { from, to }: PeriodWindow): readonly number[] {
  const marks = [from, ...[...times].sort((a, b) => a - b), to]
  return marks.slice(1).map((mark, index) => mark - (marks[index] ?? mark))
}
