import type { Clock } from '../../../base/async/clock.ts'
import { KeyedLock } from '../../../base/async/keyed-lock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { computeNextTry } from '../compute-next-try.ts'
import type { NextTry } from '../compute-next-try.ts'
import { VolumeStepError } from '../volume-step-error.ts'
import { errorText } from '../../../base/telemetry/error-text.ts'

/** A persistent volume on this node, whichever pods use it. */
export interface StagedVolume {
  /** As the status of the node has it. */
  readonly name: string
  /** Of the persistent volume; empty where that is not known. */
  readonly specName: string
  /** Where it is for all pods. */
  readonly staging: string
  /** What it is mounted with for SELinux; empty when nothing of the kind. */
  readonly selinuxLabel: string
}

export interface StagedVolumesDeps<V extends StagedVolume> {
  /** Takes a volume from the node after its last pod. Everything in it can be done again. */
  readonly unstage: (volume: V, signal: AbortSignal) => Promise<void>
  /** What the node has to say of its volumes may be another. */
  readonly onChange: () => void
  readonly group: TaskGroup
  readonly clock: Clock
  readonly log: Logger
}

/** Found: it was on the disk before this agent. Uncertain: a call was given up in between, or its end is unknown. */
type Stage = 'none' | 'found' | 'uncertain' | 'staged'

interface Entry<V> {
  /** As a pod last asked for it: what was found on the disk may lack names. */
  volume: V
  readonly users: Set<PodUid>
  stage: Stage
  /** What it was staged with. */
  selinuxLabel: string
  /** Must be attached to this node by the cluster; undefined while that is not known. */
  attachable: boolean | undefined
  /** In bytes, as this node last had it; undefined before it was read. */
  size: bigint | undefined
  /** The driver can make it larger only when no pod uses it. */
  expandsUnusedOnly: boolean
  isLeaving: boolean
  readonly wakeup: Wakeup
}

/**
 * The persistent volumes that this node has: staged before the first pod uses them, unstaged after the last. A pod is a user
 * from before the first step until after the last one, so nothing is taken away that is published. Taking away holds up no
 * pod: it is tried until it works, also for what an earlier agent left.
 */
export class StagedVolumes<V extends StagedVolume> {
  readonly #deps: StagedVolumesDeps<V>
  readonly #entries = new Map<string, Entry<V>>()
  readonly #lock = new KeyedLock()
  #isAdopted = false

  constructor(deps: StagedVolumesDeps<V>) {
    this.#deps = deps
  }

  /** Takes in what lies on the disk. */
  adopt(staged: readonly V[], users: readonly { readonly uid: PodUid; readonly volume: V }[]): void {
    for (const volume of staged)
      Object.assign(this.#entry(volume), { stage: 'found', selinuxLabel: volume.selinuxLabel })
    for (const { uid, volume } of users) this.#entry(volume).users.add(uid)
    this.#isAdopted = true
    this.#deps.onChange()
  }

  /** The pods are known: what none of them uses is taken away. */
  releaseUnused(): void {
    for (const entry of this.#entries.values()) this.#leaveNode(entry)
  }

  /** The pod uses the volume from now on. */
  enter(volume: V, uid: PodUid, { attachable }: { readonly attachable: boolean }): void {
    const entry = this.#entry(volume)
    const isNews = entry.users.size === 0 || entry.attachable !== attachable || entry.volume.name !== volume.name
    entry.volume = volume
    entry.users.add(uid)
    entry.attachable = attachable
    entry.wakeup.wake()
    if (isNews) this.#deps.onChange()
  }

  /** Does work that makes the volume ready for all pods, unless it is; fails as the work does. None: its driver has no need of it. */
  async stage(volume: V, work: (isFound: boolean) => Promise<'none' | 'staged'>, signal: AbortSignal): Promise<void> {
    const entry = this.#entry(volume)
    const ensure = async () => {
      if (entry.stage !== 'none' && entry.selinuxLabel !== volume.selinuxLabel) await this.#unstageOther(entry, signal)
      const { stage } = entry
      if (stage === 'staged') return
      entry.selinuxLabel = volume.selinuxLabel
      // A caller that gives up in between does not know either.
      entry.stage = stage === 'found' ? 'found' : 'uncertain'
      try {
        entry.stage = await work(stage === 'found')
      } catch (error) {
        if (!signal.aborted) entry.stage = afterFailure(stage, error)
        throw error
      }
    }
    await this.#lock.hold(volume.staging, ensure, signal)
  }

  /** Nothing of it is published for the pod any more. */
  leave(staging: string, uid: PodUid): void {
    const entry = this.#entries.get(staging)
    if (entry === undefined) return
    entry.users.delete(uid)
    this.#leaveNode(entry)
  }

  /** What a pod uses, by the name of its persistent volume; also when its driver is not known. */
  stagingOf(uid: PodUid, specName: string): string | undefined {
    return this.#entries.values().find(({ users, volume }) => users.has(uid) && volume.specName === specName)?.volume
      .staging
  }

  /** What was found out of the drivers of volumes that were found. */
  noteAttachable(isMeant: (volume: V) => boolean, attachable: boolean): void {
    for (const entry of this.#entries.values()) if (isMeant(entry.volume)) entry.attachable ??= attachable
    this.#deps.onChange()
  }

  /** A driver came or went: what waits for one need not wait longer. */
  retryNow(): void {
    for (const { wakeup } of this.#entries.values()) wakeup.wake()
  }

  /** The names of volumes that must not be detached; undefined while they are not known. */
  inUse(): readonly string[] | undefined {
    if (!this.#isAdopted) return undefined
    const used = [...this.#entries.values()].filter(({ attachable }) => attachable !== false)
    return [...new Set(used.map(({ volume }) => volume.name))].toSorted()
  }

  /** What is known of the size of a volume, to be kept up to date by the caller. */
  sizing(staging: string): Pick<Entry<V>, 'size' | 'expandsUnusedOnly'> | undefined {
    return this.#entries.get(staging)
  }

  /** All of them, for tests and for debugging. */
  get size(): number {
    return this.#entries.size
  }

  #entry(volume: V): Entry<V> {
    return this.#entries.getOrInsertComputed(volume.staging, () => ({
      volume,
      users: new Set(),
      stage: 'none',
      selinuxLabel: volume.selinuxLabel,
      attachable: undefined,
      size: undefined,
      expandsUnusedOnly: false,
      isLeaving: false,
      wakeup: new Wakeup(),
    }))
  }

  /** Begins to unstage it when no pod uses it. */
  #leaveNode(entry: Entry<V>): void {
    if (entry.users.size > 0 || entry.isLeaving || this.#deps.group.signal.aborted) return
    entry.isLeaving = true
    this.#deps.group.run(`unstage volume ${entry.volume.staging}`, async (signal) => {
      try {
        await this.#unstage(entry, signal)
      } finally {
        entry.isLeaving = false
      }
    })
  }

  async #unstage(entry: Entry<V>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const { volume, users } = entry
    let next: NextTry<'unstage'> | undefined
    // No pause between the last check and the end of this: a pod that comes or leaves meanwhile is seen.
    while (users.size === 0 && this.#entries.get(volume.staging) === entry) {
      try {
        await this.#lock.hold(volume.staging, () => this.#unstageNow(entry, signal), signal)
      } catch (error) {
        signal.throwIfAborted()
        const why = errorText(error)
        const { name } = volume
        if (why !== next?.why) log.warn('cannot take a volume from the node, will try again', { volume: name, error })
        next = computeNextTry(next, { operation: 'unstage', why }, clock.monotonic())
        await entry.wakeup.wait({ clock, ms: next.delayMs }, signal)
      }
    }
  }

  /** What is staged for a pod that has gone has another SELinux label than the next pod needs. */
  async #unstageOther(entry: Entry<V>, signal: AbortSignal): Promise<void> {
    const { volume, users } = entry
    if (users.size > 1) {
      throw new Error(
        `waiting for unmount of volume "${volume.name}", because it is already mounted to a different pod with a different SELinux label`,
      )
    }
    entry.stage = 'uncertain'
    await this.#deps.unstage(volume, signal)
    entry.stage = 'none'
  }

  async #unstageNow(entry: Entry<V>, signal: AbortSignal): Promise<void> {
    const { volume, users } = entry
    if (users.size > 0) return
    if (entry.stage !== 'none') {
      entry.stage = 'uncertain'
      await this.#deps.unstage(volume, signal)
      entry.stage = 'none'
    }
    // A pod may have come meanwhile, and stages it again.
    if (this.#sizeOf(users) > 0) return
    this.#entries.delete(volume.staging)
    this.#deps.onChange()
  }

  // Asked by its own name: the compiler believes that what was empty a moment ago still is.
  #sizeOf(users: ReadonlySet<PodUid>): number {
    return users.size
  }
}

/** What an earlier agent left may be in use whatever a driver says now. */
function afterFailure(before: Stage, error: unknown): Stage {
  const outcome = error instanceof VolumeStepError ? error.outcome : 'untried'
  if (before === 'found' || outcome === 'untried') return before
  return outcome === 'uncertain' ? 'uncertain' : 'none'
}
