import { Wakeup } from '../../base/async/wakeup.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { CgroupFinder } from './sampling/cgroup-finder.ts'
import { CgroupSampler } from './sampling/cgroup-sampler.ts'
import { collectDisk, collectFileSystems } from './collect-disk.ts'
import { collectNode } from './collect-node.ts'
import { collectPods, listMeasured } from './collect-pods.ts'
import { RuntimePids } from './sampling/runtime-pids.ts'
import type { StatsDeps } from './stats-deps.ts'
import type { StatsPart, StatsSnapshot } from './stats-snapshot.ts'

interface LastCheck {
  readonly at: number
  readonly snapshot: StatsSnapshot
  /** The containers that it tells of. */
  readonly containers: ReadonlySet<string>
}

interface Look {
  readonly at: number
  readonly parts: ReadonlySet<StatsPart>
  readonly result: Promise<StatsSnapshot>
}

// So long after the last question there are looks without one: whoever asks again has something to compare with.
const INTEREST_LASTS_MS = 60_000

/**
 * Knows what the node and its pods use. Looks at the interval while somebody asks, and answers from the last look, so that it costs the same
 * however many ask and however often. A part that nobody asked for lately is not looked at.
 */
export class StatsEngine {
  readonly #deps: StatsDeps
  readonly #finder: CgroupFinder
  readonly #sampler: CgroupSampler
  readonly #pids: RuntimePids
  readonly #askedAt = new Map<StatsPart, number>()
  readonly #wakeup = new Wakeup()
  readonly #signal: AbortSignal
  #last: LastCheck | undefined
  #current: Look | undefined

  /** The signal ends what is under way for somebody who asked. */
  constructor(deps: StatsDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
    this.#finder = new CgroupFinder(deps.cgroups, deps.layout)
    this.#sampler = new CgroupSampler(deps.cgroups, deps.clock)
    this.#pids = new RuntimePids(deps.calls)
  }

  /** The last look, whatever its age and parts; undefined when nobody asked for a while. */
  snapshot(): StatsSnapshot | undefined {
    return this.#last?.snapshot
  }

  /** A look with these parts that is not older than the interval, or than is said, and that tells of all containers that run now. */
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
      // One that began before the question may lack something, or be older than wanted.
      const isEarlier = this.#current !== undefined
      const look = this.#current ?? this.#begin()
      const snapshot = await waitForShared(look.result, signal)
      const isEnough = !isEarlier || (now - look.at <= maxAgeMs && this.#isComplete())
      if (hasAll(look.parts, parts) && isEnough) return snapshot
    }
  }

  /** Looks at the interval as long as somebody is interested. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, log } = this.#deps
    for (;;) {
      if (this.#wanted().size === 0) {
        // Nobody will read it any more.
        this.#last = undefined
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
        log.warn('cannot look at what the node uses, will try again', { error })
        await clock.sleep(intervalMs, signal)
      }
    }
  }

  /** How many things are remembered, for those who look for leaks. */
  get size(): number {
    return this.#finder.size + this.#sampler.size + this.#pids.size
  }

  #wanted(): ReadonlySet<StatsPart> {
    const since = this.#deps.clock.monotonic() - INTEREST_LASTS_MS
    return new Set(this.#askedAt.entries().flatMap(([part, at]) => (at >= since ? [part] : [])))
  }

  #begin(): Look {
    const parts = this.#wanted()
    const result = this.#look(parts).finally(() => (this.#current = undefined))
    // Whoever asked may have left.
    result.catch(() => {})
    this.#current = { at: this.#deps.clock.monotonic(), parts, result }
    return this.#current
  }

  async #look(parts: ReadonlySet<StatsPart>): Promise<StatsSnapshot> {
    const { clock } = this.#deps
    const at = clock.monotonic()
    const pods = this.#observed()
    const [disk, fileSystems] = await Promise.all([
      parts.has('disk') ? collectDisk(this.#deps, pods, this.#signal) : undefined,
      parts.has('disk') || parts.has('fileSystems') ? collectFileSystems(this.#deps, this.#signal) : undefined,
    ])
    this.#sampler.beginRelist()
    const common = { deps: this.#deps, sampler: this.#sampler, parts }
    const node = await collectNode({ ...common, fileSystems })
    const podObservation = { ...common, disk, finder: this.#finder, pids: this.#pids }
    const stats = await collectPods(podObservation, pods, this.#signal)
    this.#sampler.endRelist()
    this.#forget(pods)
    const snapshot = { time: clock.now(), parts, node, pods: stats }
    const containers = new Set(pods.flatMap(listMeasured).map(({ id }) => id))
    this.#last = { at, snapshot, containers }
    return snapshot
  }

  /** A pod that came since would be missing until the next look; whoever scales by these figures would take it for idle. */
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
  return wanted.every((part) => had.has(part) || (part === 'fileSystems' && had.has('disk')))
}
