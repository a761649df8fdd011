import { Wakeup } from '../../base/async/wakeup.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { CgroupFinder } from './sampling/cgroup-finder.ts'
import { CgroupSampler } from './sampling/cgroup-sampler.ts'
import { collectDisk, collectFileSystems } from './collect-disk.ts'
import type { DiskUsage, RuntimeFileSystems } from './collect-disk.ts'
import { collectNode } from './collect-node.ts'
import { collectPods, listMeasured } from './collect-pods.ts'
import { DescriptorBudget } from './sampling/read-processes.ts'
import { RuntimePids } from './sampling/runtime-pids.ts'
import type { StatsDeps } from './stats-deps.ts'
import type { PodUsage, StatsPart, StatsSnapshot } from './stats-snapshot.ts'
import { UsageHistory } from './usage-history.ts'

interface LastSnapshot {
  readonly at: number
  readonly snapshot: StatsSnapshot
  /** The containers in the snapshot. */
  readonly containers: ReadonlySet<string>
}

interface PendingSnapshot {
  readonly at: number
  readonly parts: ReadonlySet<StatsPart>
  readonly result: Promise<StatsSnapshot>
}

// Snapshots go on for so long after the last request, so that the next one has something to compare with.
const INTEREST_LASTS_MS = 60_000
// A disk fills more slowly than CPUs become busy, and each pod has a dozen files and folders to look at.
const RECENT_DISK_MS = 30_000

/**
 * Measures what the node and its pods use. Takes a snapshot per interval while clients ask, and answers from the last one, so that the
 * cost does not depend on the number of requests. A part without recent requests is not measured, but for the overview that the history keeps.
 */
export class StatsEngine {
  /** What the snapshots of the last hour said. */
  readonly history = new UsageHistory()
  readonly #deps: StatsDeps
  readonly #finder: CgroupFinder
  readonly #sampler: CgroupSampler
  readonly #pids: RuntimePids
  readonly #askedAt = new Map<StatsPart, number>()
  readonly #wakeup = new Wakeup()
  readonly #signal: AbortSignal
  #last: LastSnapshot | undefined
  #disk: { readonly at: number; readonly usage: DiskUsage } | undefined
  #current: PendingSnapshot | undefined

  /** The signal ends snapshots that are under way for a client. */
  constructor(deps: StatsDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
    this.#finder = new CgroupFinder(deps.cgroups, deps.layout)
    this.#sampler = new CgroupSampler(deps.cgroups, deps.clock)
    this.#pids = new RuntimePids(deps.calls)
  }

  /** The last snapshot, whatever its age and parts; undefined when there were no requests for a while. */
  snapshot(): StatsSnapshot | undefined {
    return this.#last?.snapshot
  }

  /** A snapshot with these parts that is not older than the interval, or than maxAgeMs, and that has all containers that run now. */
  async ask(
    parts: readonly StatsPart[],
    signal: AbortSignal,
    maxAgeMs = this.#deps.intervalMs,
  ): Promise<StatsSnapshot> {
    const now = this.#deps.clock.monotonic()
    for (const part of parts) this.#askedAt.set(part, now)
    this.#wakeup.wake()
    for (;;) {
      const last = this.#last
      const isFresh = last !== undefined && now - last.at <= maxAgeMs && hasAll(last.snapshot.parts, parts)
      if (isFresh && this.#isComplete()) return last.snapshot
      // A snapshot that began before the request may lack something, or be older than wanted.
      const isEarlier = this.#current !== undefined
      const pending = this.#current ?? this.#begin()
      const snapshot = await waitForShared(pending.result, signal)
      const isEnough = !isEarlier || (now - pending.at <= maxAgeMs && this.#isComplete())
      if (hasAll(pending.parts, parts) && isEnough) return snapshot
    }
  }

  /** Takes snapshots at the interval as long as there are recent requests. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, log } = this.#deps
    for (;;) {
      if (this.#wanted().size === 0) {
        // No client reads it any more.
        this.#last = this.#disk = undefined
        await this.#wakeup.wait({ clock, ms: undefined }, signal)
        continue
      }
      const dueIn = (this.#last?.at ?? Number.NEGATIVE_INFINITY) + intervalMs - clock.monotonic()
      if (dueIn > 0) {
        await clock.sleep(dueIn, signal)
        continue
      }
      try {
        await waitForShared((this.#current ?? this.#begin()).result, signal)
      } catch (error) {
        signal.throwIfAborted()
        log.warn('cannot measure what the node uses, will try again', { error })
        await clock.sleep(intervalMs, signal)
      }
    }
  }

  /** How many entries are kept, for tests that search for leaks. */
  get size(): number {
    return this.#finder.size + this.#sampler.size + this.#pids.size
  }

  #wanted(): Set<StatsPart> {
    const since = this.#deps.clock.monotonic() - INTEREST_LASTS_MS
    return new Set(this.#askedAt.entries().flatMap(([part, at]) => (at >= since ? [part] : [])))
  }

  #begin(): PendingSnapshot {
    const parts = this.#wanted()
    if (this.history.isDue(this.#deps.clock.now())) parts.add('overview')
    const result = this.#takeSnapshot(parts).finally(() => (this.#current = undefined))
    // The caller may have left.
    result.catch(() => {})
    this.#current = { at: this.#deps.clock.monotonic(), parts, result }
    return this.#current
  }

  async #takeSnapshot(parts: ReadonlySet<StatsPart>): Promise<StatsSnapshot> {
    const { clock } = this.#deps
    const at = clock.monotonic()
    const pods = this.#observed()
    const { disk, fileSystems } = await this.#collectDisk(parts, pods)
    this.#sampler.beginPass()
    const common = { deps: this.#deps, sampler: this.#sampler, parts, budget: new DescriptorBudget() }
    const node = await collectNode({ ...common, fileSystems })
    const hasPods = !parts.isSubsetOf(PARTS_OF_NODE)
    const stats = hasPods
      ? ((await this.#askRuntime({ parts, disk }, pods)) ??
        (await collectPods({ ...common, disk, finder: this.#finder, pids: this.#pids }, pods, this.#signal)))
      : []
    this.#sampler.endPass({ isOverAll: hasPods })
    this.#forget(pods)
    const runtimeFamilies = parts.has('details') ? await this.#deps.runtimeStats?.families(this.#signal) : undefined
    const snapshot = { time: clock.now(), parts, node, pods: stats, runtimeFamilies }
    const containers = new Set(pods.flatMap(listMeasured).map(({ id }) => id))
    this.#last = { at, snapshot, containers }
    if (parts.has('usage') || parts.has('overview')) this.history.add(snapshot)
    return snapshot
  }

  async #collectDisk(
    parts: ReadonlySet<StatsPart>,
    pods: readonly ObservedPod[],
  ): Promise<{ readonly disk?: DiskUsage; readonly fileSystems?: RuntimeFileSystems }> {
    const wantsDisk = parts.has('disk') || parts.has('recentDisk')
    if (!wantsDisk) this.#disk = undefined
    if (!wantsDisk && !parts.has('fileSystems')) return {}
    const asked = collectFileSystems(this.#deps, this.#signal)
    if (!wantsDisk) return { fileSystems: await asked }
    const disk = parts.has('disk') ? this.#measureDisk(pods, asked) : this.#recentDisk(pods, asked)
    const [usage, fileSystems] = await Promise.all([disk, asked])
    return { disk: usage, fileSystems }
  }

  async #measureDisk(pods: readonly ObservedPod[], fileSystems: Promise<RuntimeFileSystems>): Promise<DiskUsage> {
    const at = this.#deps.clock.monotonic()
    const usage = await collectDisk(this.#deps, pods, fileSystems, this.#signal)
    this.#disk = { at, usage }
    return usage
  }

  /** What is known, with pods and containers that are new since then. */
  async #recentDisk(pods: readonly ObservedPod[], fileSystems: Promise<RuntimeFileSystems>): Promise<DiskUsage> {
    const known = this.#disk
    if (known === undefined || this.#deps.clock.monotonic() - known.at > RECENT_DISK_MS)
      return await this.#measureDisk(pods, fileSystems)
    const { usage } = known
    const isNew = (pod: ObservedPod) =>
      !usage.pods.has(pod.uid) || listMeasured(pod).some(({ id }) => !usage.containers.has(id))
    const added = pods.filter(isNew)
    if (added.length === 0) return usage
    const { rootfs, pods: byPod, containers } = await collectDisk(this.#deps, added, fileSystems, this.#signal)
    const merged = {
      rootfs: new Map([...usage.rootfs, ...rootfs]),
      pods: new Map([...usage.pods, ...byPod]),
      containers: usage.containers.union(containers),
    }
    this.#disk = { at: known.at, usage: merged }
    return merged
  }

  /** What the runtime reports of pods; undefined where the agent measures by itself. */
  async #askRuntime(
    wanted: { readonly parts: ReadonlySet<StatsPart>; readonly disk: DiskUsage | undefined },
    pods: readonly ObservedPod[],
  ): Promise<readonly PodUsage[] | undefined> {
    const { runtimeStats, pressure } = this.#deps
    const rate = (id: string, usageNanos: number) => this.#sampler.rate(id, usageNanos)
    return await runtimeStats?.pods({ ...wanted, pressure, rate }, pods, this.#signal)
  }

  /** A new pod would be missing until the next snapshot, and an autoscaler would take it for idle. */
  #isComplete(): boolean {
    return this.#observed().every((pod) => listMeasured(pod).every(({ id }) => this.#last?.containers.has(id) === true))
  }

  #observed(): readonly ObservedPod[] {
    const { observed } = this.#deps
    return observed.uids().flatMap((uid) => observed.get(uid) ?? [])
  }

  #forget(pods: readonly ObservedPod[]): void {
    const ids = new Set(pods.flatMap((pod) => [...pod.sandboxes, ...pod.containers].map(({ id }) => id)))
    this.#finder.keep(new Set(pods.map(({ uid }) => uid)), ids)
    this.#pids.keep(ids)
  }
}

function hasAll(had: ReadonlySet<StatsPart>, wanted: readonly StatsPart[]): boolean {
  return wanted.every((part) => had.has(part) || WIDER_PARTS[part]?.some((wider) => had.has(wider)) === true)
}

/** All others are about pods too. */
const PARTS_OF_NODE: ReadonlySet<StatsPart> = new Set(['fileSystems'])

/** Parts that have all of another one. */
const WIDER_PARTS: Partial<Record<StatsPart, readonly StatsPart[]>> = {
  overview: ['usage'],
  fileSystems: ['recentDisk', 'disk'],
  recentDisk: ['disk'],
}
