import type { Container } from '../../../model/generated/core-v1.ts'

/** How long one container waits before its next start, and when it last started. */
export interface CrashBackOff {
  readonly delayMs: number
  readonly lastStartAt: number
}

export interface CrashBackOffLimits {
  readonly initialMs: number
  readonly maxMs: number
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
export function crashBackOffLimits(maxMs: number): CrashBackOffLimits {
  return { initialMs: Math.min(FIRST_WAIT_MS, maxMs), maxMs }
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
  context: { readonly limits: CrashBackOffLimits; readonly now: number },
): CrashBackOff {
  const { limits, now } = context
  const delayMs =
    entry === undefined || isForgiven(entry, finishedAt) ? limits.initialMs : Math.min(entry.delayMs * 2, limits.maxMs)
  return { delayMs, lastStartAt: now }
}

function isForgiven(entry: CrashBackOff, finishedAt: number): boolean {
  return finishedAt - entry.lastStartAt > FORGIVEN_AFTER_MS
}
