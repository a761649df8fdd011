/** How long one container waits before its next start, and when it last started. */
export interface CrashBackOff {
  readonly delayMs: number
  readonly lastStartAt: number
}

export interface CrashBackOffLimits {
  readonly initialMs: number
  readonly maxMs: number
}

/** The limits for a configured ceiling: the first wait is never longer than it. */
export function crashBackOffLimits(maxMs: number): CrashBackOffLimits {
  return { initialMs: Math.min(10_000, maxMs), maxMs }
}

/**
 * When a container that finished at finishedAt may start again; undefined: at once. A container that ran long enough since its last
 * start (twice the ceiling) is forgiven.
 */
export function computeBackOffEnd(
  entry: CrashBackOff | undefined,
  finishedAt: number,
  context: { readonly limits: CrashBackOffLimits; readonly now: number },
): number | undefined {
  if (entry === undefined || isForgiven(entry, finishedAt, context.limits)) return undefined
  const end = finishedAt + entry.delayMs
  return context.now < end ? end : undefined
}

/** What to remember when the container is started now: the next wait doubles up to the ceiling. */
export function computeNextBackOff(
  entry: CrashBackOff | undefined,
  finishedAt: number,
  context: { readonly limits: CrashBackOffLimits; readonly now: number },
): CrashBackOff {
  const { limits, now } = context
  const delayMs =
    entry === undefined || isForgiven(entry, finishedAt, limits)
      ? limits.initialMs
      : Math.min(entry.delayMs * 2, limits.maxMs)
  return { delayMs, lastStartAt: now }
}

function isForgiven(entry: CrashBackOff, finishedAt: number, limits: CrashBackOffLimits): boolean {
  return finishedAt - entry.lastStartAt > 2 * limits.maxMs
}
