/** What is known of the cpu that something used, and how much it uses. */
export interface CpuReading {
  /** When the sum was read from which the next rate is counted, in milliseconds. */
  readonly at: number
  readonly usageNanos: number
  readonly nanoCores: number | undefined
}

// Two readings that are nearer to each other say more about when they were taken than about what was used.
const SHORTEST_MS = 1000
const NANOS_PER_MS = 1e6

/** The use since the last reading, in billionths of a core; undefined while there is only one. */
export function computeNanoCores(
  before: CpuReading | undefined,
  now: { readonly at: number; readonly usageNanos: number },
): CpuReading {
  // A sum that shrank is that of another one with the same name.
  if (before === undefined || now.usageNanos < before.usageNanos) return { ...now, nanoCores: undefined }
  const ms = now.at - before.at
  if (ms < SHORTEST_MS) return before
  return { ...now, nanoCores: Math.round(((now.usageNanos - before.usageNanos) / (ms * NANOS_PER_MS)) * 1e9) }
}
