import { computeNextWait } from '../../base/async/back-off.ts'

/** Why pulls of one image for one pod wait: the last failure, when it was, and how long the next try must wait from then. */
export interface PullBackOff {
  readonly failedAt: number
  readonly delayMs: number
  readonly reason: string
  readonly message: string
}

const RETRIES = { firstMs: 10_000, longestMs: 300_000 }
const FORGET_AFTER_MS = 2 * RETRIES.longestMs

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
 * report its failure, which counts once: one that began waiting before the known failure adds nothing.
 */
export function computePullBackOff(
  entry: PullBackOff | undefined,
  failure: { readonly reason: string; readonly message: string; readonly waitedSince: number },
  now: number,
): PullBackOff {
  const { reason, message, waitedSince } = failure
  const known = entry === undefined || isForgotten(entry, now) ? undefined : entry
  if (known !== undefined && waitedSince <= known.failedAt) return known
  return { failedAt: now, delayMs: computeNextWait(RETRIES, known?.delayMs), reason, message }
}
