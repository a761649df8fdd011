import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { Turnstile } from '../../../base/async/turnstile.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import type { FileSystemUsage } from '../../../system/files/file-usage.ts'
import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import type { AgentMetrics } from '../../../metrics/create-metrics.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { ClaimUsage } from '../../../metrics/volume-metrics.ts'
import type { DriverUsage, MountedVolume, VolumeDriver } from '../mounted-volume.ts'
import type { VolumeProjects } from './volume-projects.ts'

/** What a volume took when it was last measured. Of one that shares its file system only what is used is its own. */
export interface VolumeMeasurement extends Partial<FileSystemUsage> {
  readonly volume: MountedVolume
  /** When that was, in milliseconds since the epoch. */
  readonly time: number
  /** What its driver says of its health. */
  readonly isAbnormal?: boolean | undefined
}

export interface VolumeMeterDeps {
  /** The volumes that are there now. */
  readonly mounted: () => readonly MountedVolume[]
  readonly files: Pick<GuardedFiles, 'measureTree' | 'measureFileSystem'>
  /** Knows what some of them take without a walk; undefined where none has a project. */
  readonly projects?: Pick<VolumeProjects, 'has' | 'usageOf'> | undefined
  /** Each volume is measured again after once to twice this time; 0 or less: none ever is. */
  readonly periodMs: number
  /** Whether drivers are heard that say something is wrong with a volume (feature gate CSIVolumeHealth). */
  readonly reportsHealth?: boolean | undefined
  readonly metrics: Pick<AgentMetrics, 'volumeMeasured'>
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly log: Logger
}

interface Entry {
  /** By the monotonic clock. */
  dueAt: number
  /** Stops the measurement that is under way. */
  stop: (() => void) | undefined
  /** Resolves when the measurement that is under way has ended. */
  underWay: Promise<void> | undefined
  last: Omit<VolumeMeasurement, 'volume'> | undefined
  failing: boolean
}

// How often it is checked whether something is due: a new volume waits no longer than that.
const CHECK_MS = 10_000
// Pods that start need the same children; they find some free. Who measures longer than the patience, or hangs, no longer counts.
const PLACES = 2
const PATIENCE_MS = 1000

/** Measures the volumes of all pods from time to time. One that hangs or fails keeps its last result, and holds up no other. */
export class VolumeMeter {
  readonly #deps: VolumeMeterDeps
  readonly #turnstile: Turnstile
  readonly #entries = new Map<string, Entry>()

  constructor(deps: VolumeMeterDeps) {
    this.#deps = deps
    this.#turnstile = new Turnstile({ places: PLACES, patienceMs: PATIENCE_MS, clock: deps.clock })
  }

  /** For each volume that is there and was ever measured. */
  usages(): readonly VolumeMeasurement[] {
    return this.#deps.mounted().flatMap((volume) => {
      const last = this.#entries.get(keyOf(volume))?.last
      return last === undefined ? [] : [{ volume, ...last }]
    })
  }

  /** One for each claim; of several pods that share it the first counts. */
  claimUsages(): readonly ClaimUsage[] {
    const claims = new Map<string, ClaimUsage>()
    for (const usage of this.usages()) {
      const { pvcRef } = usage.volume
      if (pvcRef === undefined) continue
      const { namespace, name: claim } = pvcRef
      claims.getOrInsert(`${namespace}/${claim}`, { ...usage, namespace, claim })
    }
    return [...claims.values()]
  }

  /** Measures all that a pod can fill at once, however lately that was done. One that fails keeps its last result. */
  async measureNow(signal: AbortSignal): Promise<void> {
    if (this.#deps.periodMs <= 0) return
    const filled = this.#deps.mounted().filter(({ measure, pvcRef }) => measure === 'walk' && pvcRef === undefined)
    await Promise.all(
      filled.map(async (volume) => {
        const entry = this.#entries.getOrInsertComputed(keyOf(volume), newEntry)
        // A measurement that began earlier may have missed what was written since.
        while (entry.underWay !== undefined) await waitForShared(entry.underWay, signal)
        await this.#begin(volume, entry, signal)
      }),
    )
    signal.throwIfAborted()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { periodMs, clock } = this.#deps
    if (periodMs <= 0) return
    await using group = new TaskGroup(signal)
    for (;;) {
      this.#refresh(group)
      await clock.sleep(Math.min(periodMs, CHECK_MS), signal)
    }
  }

  /** Begins what is due and forgets what is gone; waits for nothing. */
  #refresh(group: TaskGroup): void {
    const now = this.#deps.clock.monotonic()
    const volumes = new Map(this.#deps.mounted().map((volume) => [keyOf(volume), volume]))
    for (const [key, entry] of this.#entries) {
      if (volumes.has(key)) continue
      entry.stop?.()
      this.#entries.delete(key)
    }
    for (const [key, volume] of volumes) {
      if (volume.measure === undefined) continue
      const entry = this.#entries.getOrInsertComputed(key, newEntry)
      if (entry.underWay === undefined && entry.dueAt <= now)
        group.run('measure a volume', (signal) => this.#begin(volume, entry, signal))
    }
  }

  async #begin(volume: MountedVolume, entry: Entry, signal: AbortSignal): Promise<void> {
    entry.underWay = this.#measure(volume, entry, signal).finally(() => (entry.underWay = undefined))
    await entry.underWay
  }

  async #measure(volume: MountedVolume, entry: Entry, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    using scope = new AbortScope(signal)
    entry.stop = () => scope.abort(new Error('Volume is gone'))
    try {
      const usage = await this.#turnstile.runInTurn(0, () => this.#ask(volume, scope.signal), scope.signal)
      entry.last = usage && { ...usage, time: clock.now() }
      entry.failing = false
    } catch (error) {
      if (scope.signal.aborted) return
      const pod = `${volume.pod.namespace}/${volume.pod.name}`
      if (!entry.failing) log.warn('cannot measure a volume', { pod, volume: volume.name, error })
      entry.failing = true
    } finally {
      entry.stop = undefined
      const isMeasured = volume.measure === 'once' && entry.last !== undefined
      entry.dueAt = isMeasured ? Number.POSITIVE_INFINITY : this.#nextTime(volume)
    }
  }

  #nextTime({ path }: MountedVolume): number {
    const { clock, random, periodMs, projects } = this.#deps
    const now = clock.monotonic()
    // All that have a project at the same time: one question answers for all.
    if (projects?.has(path)) return (Math.floor(now / periodMs) + 1) * periodMs
    return now + periodMs * (1 + random())
  }

  async #ask(
    volume: MountedVolume,
    signal: AbortSignal,
  ): Promise<Omit<VolumeMeasurement, 'volume' | 'time'> | undefined> {
    const { files, projects, metrics, clock } = this.#deps
    const { path, measure, driver } = volume
    const began = clock.monotonic()
    try {
      if (driver !== undefined) return this.#toUsage(driver, await driver.ask(signal))
      const whole = await files.measureFileSystem(path, signal)
      if (measure === 'fileSystem') return whole
      const { bytes, inodes } = (await projects?.usageOf(path, signal)) ?? (await files.measureTree(path, signal))
      return { ...whole, usedBytes: bytes, inodesUsed: inodes }
    } finally {
      const source = driver?.name ?? (measure === 'fileSystem' ? 'statfs' : 'du')
      metrics.volumeMeasured(source, (clock.monotonic() - began) / 1000)
    }
  }

  #toUsage(
    driver: VolumeDriver,
    said: DriverUsage | undefined,
  ): Omit<VolumeMeasurement, 'volume' | 'time'> | undefined {
    if (said === undefined) return undefined
    const { condition, ...usage } = said
    if (condition === undefined || this.#deps.reportsHealth !== true) return usage
    if (condition.abnormal) driver.reportAbnormal(condition.message)
    return { ...usage, isAbnormal: condition.abnormal }
  }
}

function newEntry(): Entry {
  return { dueAt: Number.NEGATIVE_INFINITY, stop: undefined, underWay: undefined, last: undefined, failing: false }
}

function keyOf({ uid, name }: MountedVolume): string {
  return `${uid}/${name}`
}
