import type { ProbeType } from './probe-outcome.ts'

/** When a probe runs. Times are milliseconds of the monotonic clock. */
export interface ProbeSchedule {
  /** The instance that is probed; undefined before there is one. */
  readonly containerId: string | undefined
  /** Runs happen here and every period from here on. */
  readonly ticksFrom: number
  /** No run before; undefined while there is nothing to ask. */
  readonly notBefore: number | undefined
  /** When the last run began. */
  readonly lastRunAt: number
  /** No more results are needed for this instance. */
  readonly held: boolean
  /** The next run does not wait for its tick. */
  readonly soon: boolean
}

/** What is seen of the container that a probe asks. */
export interface ProbeView {
  /** Of the newest instance; undefined while none runs. */
  readonly containerId: string | undefined
  /** How long it has run, in milliseconds. */
  readonly ranMs: number
  /** It has no startup probe, or that one has said yes. */
  readonly started: boolean
}

/**
 * The first schedule. An agent that has just begun has all its probes to run: it spreads them over their periods, by a part that chance
 * decides (0 to 1).
 */
export function createProbeSchedule(input: {
  readonly now: number
  readonly agentStartedAt: number
  readonly periodMs: number
  readonly chance: number
}): ProbeSchedule {
  const { now, agentStartedAt, periodMs, chance } = input
  const ticksFrom = now - agentStartedAt < periodMs ? now + chance * periodMs : now
  const lastRunAt = Number.NEGATIVE_INFINITY
  return { containerId: undefined, ticksFrom, notBefore: undefined, lastRunAt, held: false, soon: false }
}

/** The schedule after an observation of the container. A new instance starts from the beginning. */
export function computeProbeSchedule(
  schedule: ProbeSchedule,
  view: ProbeView,
  probe: { readonly type: ProbeType; readonly initialDelayMs: number; readonly now: number },
): ProbeSchedule {
  if (view.containerId === undefined) return { ...schedule, notBefore: undefined }
  const isNew = view.containerId !== schedule.containerId
  const current = isNew ? { ...schedule, containerId: view.containerId, held: false, notBefore: undefined } : schedule
  const isAsked = !current.held && (probe.type === 'startup') !== view.started
  if (!isAsked) return { ...current, notBefore: undefined, soon: false }
  if (current.notBefore !== undefined) return current
  const notBefore = probe.now + Math.max(0, probe.initialDelayMs - view.ranMs)
  // The other probes wait for the start, so its probe does not wait for a tick.
  return { ...current, notBefore, soon: current.soon || (isNew && probe.type === 'startup') }
}

/** When the next run is due; undefined while there is nothing to ask. */
export function computeNextRun(
  { ticksFrom, notBefore, lastRunAt, soon }: ProbeSchedule,
  periodMs: number,
): number | undefined {
  if (notBefore === undefined) return undefined
  if (soon) return notBefore
  const ticks = Math.max(0, Math.ceil((notBefore - ticksFrom) / periodMs))
  const tick = ticksFrom + ticks * periodMs
  return tick > lastRunAt ? tick : tick + periodMs
}
