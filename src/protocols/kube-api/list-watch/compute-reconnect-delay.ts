/** How often in a row something broke, and when last. */
export interface Breaks {
  readonly count: number
  readonly lastAt: number
}

const FIRST_DELAY_MS = 800
const LONGEST_DELAY_MS = 30_000
// After so long without a break the next one is the first: longer than the longest wait and a try that finds nobody.
const PEACE_MS = 60_000

/** One more break: how often that was, and how long to wait; chance (0 to 1) spreads those that broke together. */
export function computeReconnectDelay(
  before: Breaks | undefined,
  now: number,
  chance: number,
): { readonly breaks: Breaks; readonly delayMs: number } {
  const isNew = before === undefined || now - before.lastAt >= PEACE_MS
  const count = isNew ? 1 : before.count + 1
  const fullMs = Math.min(FIRST_DELAY_MS * 2 ** (count - 1), LONGEST_DELAY_MS)
  return { breaks: { count, lastAt: now }, delayMs: fullMs * (0.5 + chance / 2) }
}
