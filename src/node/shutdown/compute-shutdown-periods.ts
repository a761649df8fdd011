/** How long pods get to end when the machine shuts down: those of this priority and above, up to the next. */
export interface ShutdownPeriod {
  readonly priority: number
  /** Undefined: as long as the slowest pod asks for. */
  readonly seconds: number | undefined
}

export interface ShutdownConfiguration {
  /** Milliseconds; shutdownGracePeriodCriticalPods is a part of it. */
  readonly shutdownGracePeriod: number
  readonly shutdownGracePeriodCriticalPods: number
  readonly shutdownGracePeriodByPodPriority: readonly {
    readonly priority: number
    readonly shutdownGracePeriodSeconds: number | bigint
  }[]
}

const DEFAULT_PRIORITY = 0
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

/** The periods that are asked for, the lowest priority first; none when nothing is. */
export function computeShutdownPeriods(config: ShutdownConfiguration): readonly ShutdownPeriod[] {
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical } = config
  if (config.shutdownGracePeriodByPodPriority.length > 0) {
    return config.shutdownGracePeriodByPodPriority
      .map(({ priority, shutdownGracePeriodSeconds }) => ({ priority, seconds: Number(shutdownGracePeriodSeconds) }))
      .toSorted((a, b) => a.priority - b.priority)
  }
  if (total === 0) return []
  return [
    { priority: DEFAULT_PRIORITY, seconds: Math.floor((total - critical) / 1000) },
    { priority: SYSTEM_CRITICAL_PRIORITY, seconds: Math.floor(critical / 1000) },
  ]
}

/** Where nothing is configured: critical pods still end last, and each pod gets its own grace period. */
export const UNHURRIED_PERIODS: readonly ShutdownPeriod[] = [
  { priority: DEFAULT_PRIORITY, seconds: undefined },
  { priority: SYSTEM_CRITICAL_PRIORITY, seconds: undefined },
]
