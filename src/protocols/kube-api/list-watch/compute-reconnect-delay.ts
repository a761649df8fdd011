import { computeBackOff } from '../../../base/async/back-off.ts'

/** How often in a row something broke, and when last. */
export interface Breaks {
  readonly count: number
  readonly lastAt: number
}

const RETRIES = { firstMs: 800, longestMs: 30_000, jitter: { least: 0.5, extra: 0.5 } }
// After so long without a break the next one is the first: longer than the longest wait and a try that finds no server.
const PEACE_MS = 60_000

/** One more break: how often that was, and how long to wait; chance (0 to 1) spreads those that broke together. */
export function computeReconnectDelay(
  before: Breaks | undefined,
  now: number,
  chance: number,
): { readonly breaks: Breaks; readonly delayMs: number } {
  const isNew = before === undefined || now - before.lastAt >= PEACE_MS
  const count = isNew ? 1 : before.count + 1
  return { breaks: { count, lastAt: now }, delayMs: computeBackOff(RETRIES, count, chance) }
}
