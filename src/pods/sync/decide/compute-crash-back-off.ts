import type { Container } from '../../../model/generated/core-v1.ts'
import { computeNextWait } from '../../../base/async/back-off.ts'
import type { BackOffLimits } from '../../../base/async/back-off.ts'

/** How long one container waits before its next start, and when it last started. All times are of the monotonic clock, also the ends of containers. */
export interface CrashBackOff {
  readonly delayMs: number
  readonly lastStartAt: number
}

const FIRST_WAIT_MS = 10_000
const REDUCED_FIRST_WAIT_MS = 1000
// A container that ran longer than this since its last start is forgiven, whatever the ceiling is.
const FORGIVEN_AFTER_MS = 600_000

/** Under which a back-off is remembered: another image, or other resources, is another try. */
export function crashBackOffKey({ name, image, resources }: Pick<Container, 'name' | 'image' | 'resources'>): string {
  return JSON.stringify([name, image, resources])
}

/** The limits for a configured ceiling: the first wait is never longer than it. Reduced: by the gate ReduceDefaultCrashLoopBackOffDecay. */
export function crashBackOffLimits(maxMs: number, isReduced = false): BackOffLimits {
  return { firstMs: Math.min(isReduced ? REDUCED_FIRST_WAIT_MS : FIRST_WAIT_MS, maxMs), longestMs: maxMs }
}

/** When a container whose end was seen at endedAt may start again; undefined: at once. */
export function computeBackOffEnd(entry: CrashBackOff | undefined, endedAt: number, now: number): number | undefined {
  if (entry === undefined || isForgiven(entry, endedAt)) return undefined
  const end = endedAt + entry.delayMs
  return now < end ? end : undefined
}

/** What to remember when the container is started now: the next wait doubles up to the ceiling. */
export function computeNextBackOff(
  entry: CrashBackOff | undefined,
  endedAt: number,
  context: { readonly limits: BackOffLimits; readonly now: number },
): CrashBackOff {
  const { limits, now } = context
  const last = entry === undefined || isForgiven(entry, endedAt) ? undefined : entry.delayMs
  return { delayMs: computeNextWait(limits, last), lastStartAt: now }
}

function isForgiven(entry: CrashBackOff, endedAt: number): boolean {
  return endedAt - entry.lastStartAt > FORGIVEN_AFTER_MS
}
