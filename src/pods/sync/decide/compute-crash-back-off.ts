import type { Container } from '../../../model/generated/core-v1.ts'
import { computeNextWait } from '../../../base/async/back-off.ts'
import type { BackOffLimits } from '../../../base/async/back-off.ts'

/** How long one container waits before its next start, and when it last started. */
export interface CrashBackOff {
  readonly delayMs: number
  readonly lastStartAt: number
}

const FIRST_WAIT_MS = 10_000
// What finished later than now by more than this did so by a clock that was set back since.
const CLOCK_STEP_MS = 1000
// A container that ran longer than this since its last start is forgiven, whatever the ceiling is.
const FORGIVEN_AFTER_MS = 600_000

/** Under which a back-off is remembered: another image, or other resources, is another try. */
export function crashBackOffKey({ name, image, resources }: Pick<Container, 'name' | 'image' | 'resources'>): string {
  return JSON.stringify([name, image, resources])
}

/** The limits for a configured ceiling: the first wait is never longer than it. */
export function crashBackOffLimits(maxMs: number): BackOffLimits {
  return { firstMs: Math.min(FIRST_WAIT_MS, maxMs), longestMs: maxMs }
}

/** When a container that finished at finishedAt may start again; undefined: at once. */
export function computeBackOffEnd(
  entry: CrashBackOff | undefined,
  finishedAt: number,
  now: number,
): number | undefined {
  if (entry === undefined || isForgiven(entry, finishedAt)) return undefined
  if (finishedAt > now + CLOCK_STEP_MS) return undefined
  const end = finishedAt + entry.delayMs
  return now < end ? end : undefined
}

/** What to remember when the container is started now: the next wait doubles up to the ceiling. */
export function computeNextBackOff(
  entry: CrashBackOff | undefined,
  finishedAt: number,
  context: { readonly limits: BackOffLimits; readonly now: number },
): CrashBackOff {
  const { limits, now } = context
  const last = entry === undefined || isForgiven(entry, finishedAt) ? undefined : entry.delayMs
  return { delayMs: computeNextWait(limits, last), lastStartAt: now }
}

function isForgiven(entry: CrashBackOff, finishedAt: number): boolean {
  return finishedAt - entry.lastStartAt > FORGIVEN_AFTER_MS
}
