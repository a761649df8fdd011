/** Why pulls of one image for one pod wait: the last failure, when it was, and how long the next try must wait from then. */
export interface PullBackOff {
  readonly failedAt: number
  readonly delayMs: number
  readonly reason: string
  readonly message: string
}

const FIRST_DELAY_MS = 10_000
const LONGEST_DELAY_MS = 300_000
const FORGET_AFTER_MS = 2 * LONGEST_DELAY_MS

/** True when a failure is so long ago that it no longer counts. */
export function isForgotten(entry: PullBackOff, now: number): boolean {
  return now - entry.failedAt > FORGET_AFTER_MS
}

/** True while the next pull has to wait. */
export function isBackingOff(entry: PullBackOff, now: number): boolean {
  return now - entry.failedAt < entry.delayMs
}

/**
 * What to remember after a failed pull: the wait doubles with each failure. Containers of one pod that waited for the same pull each
 * report its failure, which counts once: whoever began waiting before the failure that is known already brings nothing new.
 */
export function computePullBackOff(
  entry: PullBackOff | undefined,
  failure: { readonly reason: string; readonly message: string; readonly waitedSince: number },
  now: number,
): PullBackOff {
  const { reason, message, waitedSince } = failure
  if (entry === undefined || isForgotten(entry, now)) return { failedAt: now, delayMs: FIRST_DELAY_MS, reason, message }
  if (waitedSince <= entry.failedAt) return entry
  return { failedAt: now, delayMs: Math.min(entry.delayMs * 2, LONGEST_DELAY_MS), reason, message }
}
