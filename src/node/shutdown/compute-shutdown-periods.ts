import type { GroupTime } from './shutdown-state-file.ts'

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

/** What is left of the periods after an agent was killed in them: those that had begun go on, the others are whole. */
export function computePeriodsLeft(
  periods: readonly ShutdownPeriod[],
  begun: readonly GroupTime[],
  now: number,
): readonly ShutdownPeriod[] {
  return periods.map(({ priority, seconds }) => {
    const endsAt = begun.find((group) => group.priority === priority)?.endsAt
    if (endsAt === undefined || seconds === undefined) return { priority, seconds }
    return { priority, seconds: Math.min(seconds, Math.max(0, Math.ceil((endsAt - now) / 1000))) }
  })
}

/** Where nothing is configured: critical pods still end last, and each pod gets its own grace period. */
export const UNHURRIED_PERIODS: readonly ShutdownPeriod[] = [
  { priority: DEFAULT_PRIORITY, seconds: undefined },
  { priority: SYSTEM_CRITICAL_PRIORITY, seconds: undefined },
]
