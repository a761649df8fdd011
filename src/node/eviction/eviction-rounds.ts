import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodUsage, StatsPart, StatsSnapshot } from '../stats/stats-snapshot.ts'
import type { EvictionMetrics } from '../../metrics/node-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { computeDiskLayout, computeDiskParts, computeReclaimable } from './compute-disk-layout.ts'
import type { DiskLayout, Reclaimable } from './compute-disk-layout.ts'
import { computeEvictionMessage } from './compute-eviction-message.ts'
import { computeEvictionOrder } from './compute-eviction-order.ts'
import { computeEvictionStep, computeMet, computeMissing, QUIET } from './compute-eviction-step.ts'
import { computeObservations } from './compute-observations.ts'
import type { Observations } from './compute-observations.ts'
import { computePodUsage } from './compute-pod-usage.ts'
import { computeStorageExcess, hasStorageLimits } from './compute-storage-excess.ts'
import type { NodePressure } from './node-pressure.ts'
import { OBSERVED_SIGNALS } from './observed-signal.ts'
import type { Threshold } from './threshold.ts'
import { toSeconds } from '../../model/text/int64.ts'

/** How a pod is evicted. */
interface PodEviction {
  readonly reason: string
  readonly message: string
  readonly graceSeconds: number
  /** What the condition DisruptionTarget says; without, there is none. */
  readonly disruption: string | undefined
}

export interface EvictionRoundsDeps {
  readonly thresholds: readonly Threshold[]
  /** How long the node reports a pressure after it was last observed. */
  readonly transitionMs: number
  /** What a pod gets at most to stop when it was warned. */
  readonly maxGraceSeconds: number
  /** Whether pods have to keep to the limits of the disk that they set for themselves. */
  readonly localStorage: boolean
  readonly stats: {
    ask(parts: readonly StatsPart[], signal: AbortSignal, maxAgeMs: number): Promise<StatsSnapshot>
  }
  readonly pods: {
    activePods(): readonly Pod[]
    evict(uid: PodUid, eviction: PodEviction, signal: AbortSignal): Promise<void>
    dropRemains(uid: PodUid | undefined, signal: AbortSignal): Promise<void>
  }
  readonly volumes: { measureNow(signal: AbortSignal): Promise<void> }
  readonly images: { collectUnused(signal: AbortSignal): Promise<void> }
  readonly pressure: NodePressure
  readonly events: PodEvents
  readonly nodeEvents: NodeEvents
  readonly metrics: EvictionMetrics
  readonly clock: Clock
  readonly log: Logger
}

/** The pod to evict, with the usage that explains it; no victim when no pod may be evicted. */
interface Found {
  readonly victim: Pod | undefined
  readonly usages: ReadonlyMap<PodUid, PodUsage>
  readonly observations: Observations
  readonly time: number
}

const INTERVAL_MS = 10_000
const LEAST_REST_MS = 1000
const AT_ONCE_SECONDS = 1
// Other callers ask for stats too: what was read a moment ago need not be read again.
const FRESH_MS = 1000
const CLEAN_UP_MS = 30_000
const MEASURE_MS = 10_000
// A runtime says that containers are gone, and their files are a moment later.
const ROOM_MS = 5000
const OWN_ROOM_MS = 2000
const ROOM_CHECK_MS = 500
// A runtime measures what containers write every ten seconds.
const OLD_STATS_MS = 12_000
const STATS_CHECK_MS = 1000
const REASON = 'Evicted'
// Which pod uses how much is asked when something runs short.
const WITHOUT_PODS = ['fileSystems'] as const
// The disk usage of pods is expensive to measure, and seldom wanted.
const WITH_PODS = ['usage', 'disk'] as const

/** Protects the node: first it removes what no pod needs, then it evicts one pod after the other. */
export class EvictionRounds {
  readonly #deps: EvictionRoundsDeps
  #state = QUIET
  #maxAgeMs = FRESH_MS
  #isStuck = false
  /** From the last time that the runtime reported it; it does not change while the node runs. */
  #layout: DiskLayout | undefined

  constructor(deps: EvictionRoundsDeps) {
    this.#deps = deps
  }

  /** One check and what follows from it; true when a pod was evicted. */
  async round(signal: AbortSignal): Promise<boolean> {
    if (this.#deps.thresholds.length === 0 && !this.#hasLimits()) return false
    const snapshot = await this.#observe(signal)
    const hasEvicted = (await this.#enforceLimits(snapshot, signal)) || (await this.#reclaim(signal))
    // What was read before a pod went says nothing any more.
    this.#maxAgeMs = hasEvicted ? 0 : FRESH_MS
    return hasEvicted
  }

  /** The time until the next round: the usual interval, or until a pressure that has ended is no longer reported. */
  get restMs(): number {
    const now = this.#deps.clock.monotonic()
    const ends = [...this.#state.lastSeen.values()].map((at) => at + this.#deps.transitionMs - now)
    return Math.max(LEAST_REST_MS, Math.min(INTERVAL_MS, ...ends.filter((ms) => ms > 0)))
  }

  async #observe(signal: AbortSignal): Promise<StatsSnapshot> {
    const { thresholds, transitionMs, stats, pressure, clock, log } = this.#deps
    const snapshot = await stats.ask(this.#hasLimits() ? WITH_PODS : WITHOUT_PODS, signal, this.#maxAgeMs)
    this.#layout = computeDiskLayout(snapshot.node) ?? this.#layout
    const observations = computeObservations(snapshot.node)
    const now = clock.monotonic()
    const { state, pressures } = computeEvictionStep(this.#state, { thresholds, observations, transitionMs, now })
    this.#state = state
    if (pressure.set(pressures)) log.warn('what the node is short of has changed', { ...pressures })
    return snapshot
  }

  #hasLimits(): boolean {
    return this.#deps.localStorage && this.#deps.pods.activePods().some(hasStorageLimits)
  }

  /** Pods that take more of the disk than they said they would. */
  async #enforceLimits(snapshot: StatsSnapshot, signal: AbortSignal): Promise<boolean> {
    const { localStorage, pods, metrics } = this.#deps
    const layout = this.#layout
    if (!localStorage || layout === undefined) return false
    const usages = byUid(snapshot)
    let hasEvicted = false
    for (const pod of pods.activePods()) {
      const own = usages.get(pod.metadata.uid)
      if (own === undefined || isCriticalPod(pod) || !hasStorageLimits(pod)) continue
      const excess = computeStorageExcess(pod, own, layout)
      if (excess === undefined) continue
      const { signal: name, message } = excess
      metrics.eviction(name)
      await this.#evict(pod, { message, annotations: {}, graceSeconds: AT_ONCE_SECONDS, disruption: undefined }, signal)
      hasEvicted = true
    }
    return hasEvicted
  }

  async #reclaim(signal: AbortSignal): Promise<boolean> {
    const { nodeEvents, log } = this.#deps
    const [first] = this.#state.due
    if (first === undefined) return this.#reportStuck(false)
    const layout = this.#layout
    if (layout === undefined) return false
    const { resource } = OBSERVED_SIGNALS[first.signal]
    if (!this.#isStuck) log.warn('node is short of something', { signal: first.signal, resource })
    const message = `Attempting to reclaim ${resource}`
    nodeEvents.record({ type: 'Warning', reason: 'EvictionThresholdMet', message })
    if (await this.#giveUpOwn(first, layout, signal)) return false
    return await this.#evictOne(first, layout, signal)
  }

  /** True when that was enough. */
  async #giveUpOwn(threshold: Threshold, layout: DiskLayout, signal: AbortSignal): Promise<boolean> {
    const reclaimable = computeReclaimable(threshold.signal, layout)
    if (reclaimable.length === 0) return false
    for (const each of reclaimable) await this.#giveUp(each, signal)
    return await this.#waitForRoom(this.#deps.thresholds, OWN_ROOM_MS, signal)
  }

  /** True as soon as nothing is short any more: the next pod would go for nothing. */
  async #waitForRoom(thresholds: readonly Threshold[], ms: number, signal: AbortSignal): Promise<boolean> {
    const { stats, clock } = this.#deps
    const end = clock.monotonic() + ms
    for (;;) {
      const { node } = await stats.ask(WITHOUT_PODS, signal, 0)
      if (computeMet(thresholds, computeObservations(node), { withReclaim: true }).length === 0) return true
      if (clock.monotonic() >= end) return false
      await clock.sleep(ROOM_CHECK_MS, signal)
    }
  }

  async #giveUp(what: Reclaimable, signal: AbortSignal): Promise<void> {
    const { pods, images, clock, log } = this.#deps
    try {
      if (what === 'images') await images.collectUnused(signal)
      else
        await withDeadline(
          { clock, ms: CLEAN_UP_MS, what: 'removing containers of pods that ended' },
          (late) => pods.dropRemains(undefined, late),
          signal,
        )
    } catch (error) {
      signal.throwIfAborted()
      log.warn('cannot make room, going on without', { what, error })
    }
  }

  async #evictOne(threshold: Threshold, layout: DiskLayout, signal: AbortSignal): Promise<boolean> {
    const { metrics, clock, log, maxGraceSeconds } = this.#deps
    const { resource, pressure } = OBSERVED_SIGNALS[threshold.signal]
    const found = await this.#findVictim(threshold, layout, signal)
    // It may have helped itself in the meantime.
    if (found === undefined) return this.#reportStuck(false)
    const { victim, usages, observations, time } = found
    if (victim === undefined) {
      if (!this.#isStuck) log.warn('node is short of something, and there is no pod to evict', { resource })
      return this.#reportStuck(true)
    }
    this.#reportStuck(false)
    const { due } = this.#state
    for (const { signal: name } of due) metrics.evictionStatsAge(name, Math.max(0, clock.now() - time) / 1000)
    const reported = computeEvictionMessage(victim, usages.get(victim.metadata.uid), { resource, due, observations })
    const own = victim.spec.terminationGracePeriodSeconds ?? maxGraceSeconds
    const graceSeconds = threshold.graceMs === 0 ? AT_ONCE_SECONDS : Math.min(maxGraceSeconds, toSeconds(own))
    metrics.eviction(threshold.signal)
    await this.#evict(victim, { ...reported, graceSeconds, disruption: reported.message }, signal)
    if (pressure === 'disk') await this.#waitForRoom([threshold], ROOM_MS, signal)
    return true
  }

  /** Undefined when nothing is short any more. Where no pod's usage explains what is gone from the disk, it waits for newer stats. */
  async #findVictim(threshold: Threshold, layout: DiskLayout, signal: AbortSignal): Promise<Found | undefined> {
    const { stats, pods, clock } = this.#deps
    const { resource, pressure } = OBSERVED_SIGNALS[threshold.signal]
    const isOfDisk = pressure === 'disk'
    if (isOfDisk) await this.#measureVolumes(signal)
    const end = clock.monotonic() + OLD_STATS_MS
    for (;;) {
      const snapshot = await stats.ask(WITH_PODS, signal, isOfDisk ? 0 : FRESH_MS)
      const observations = computeObservations(snapshot.node)
      if (computeMet([threshold], observations, { withReclaim: true }).length === 0) return undefined
      const usages = byUid(snapshot)
      const parts = computeDiskParts(threshold.signal, layout)
      const [victim] = computeEvictionOrder(pods.activePods(), { resource, parts, stats: usages })
      const usage = computePodUsage(victim && usages.get(victim.metadata.uid), { resource, parts })
      const isExplained = (usage ?? 0) >= computeMissing(threshold, observations)
      if (!isOfDisk || victim === undefined || isExplained || clock.monotonic() >= end)
        return { victim, usages, observations, time: snapshot.time }
      await clock.sleep(STATS_CHECK_MS, signal)
    }
  }

  /** The pod that filled the disk did so since the volumes were last measured: by the old stats an innocent pod would be evicted. */
  async #measureVolumes(signal: AbortSignal): Promise<void> {
    const { volumes, clock, log } = this.#deps
    try {
      const limit = { clock, ms: MEASURE_MS, what: 'measuring volumes' }
      await withDeadline(limit, (late) => volumes.measureNow(late), signal)
    } catch (error) {
      signal.throwIfAborted()
      log.warn('cannot measure all volumes in time, going by what is known', { error })
    }
  }

  /** A pod that does not end in time counts as evicted all the same; the next check shows whether that helped. */
  async #evict(
    pod: Pod,
    eviction: Omit<PodEviction, 'reason'> & { readonly annotations: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<void> {
    const { pods, events, clock, log } = this.#deps
    const { message, annotations, graceSeconds, disruption } = eviction
    const { uid } = pod.metadata
    log.warn('evicting a pod', { pod: podLogName(pod), uid, message, graceSeconds })
    events.record(pod, { type: 'Warning', reason: REASON, message, annotations })
    try {
      await pods.evict(uid, { reason: REASON, message, graceSeconds, disruption }, signal)
      await withDeadline(
        { clock, ms: CLEAN_UP_MS, what: `the clean-up of pod "${uid}"` },
        (late) => pods.dropRemains(uid, late),
        signal,
      )
    } catch (error) {
      signal.throwIfAborted()
      log.warn('evicted pod has not given all back yet', { pod: podLogName(pod), uid, error })
    }
  }

  #reportStuck(isStuck: boolean): false {
    this.#isStuck = isStuck
    return false
  }
}

function byUid({ pods }: StatsSnapshot): ReadonlyMap<PodUid, PodUsage> {
  return new Map(pods.map((usage) => [usage.uid, usage]))
}
