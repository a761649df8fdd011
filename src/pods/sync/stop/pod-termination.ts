import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { throwIfTransient } from '../../../base/async/transient-errors.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import type { KillCause } from '../decide/pod-actions.ts'
import { formatTerminationNote, parseTerminationNote } from './termination-note.ts'
import type { HookNote, StopNote } from './termination-note.ts'

/** A small text per pod that outlives the agent. */
interface TerminationNotes {
  /** Undefined when there is none. */
  read(uid: PodUid): Promise<string | undefined>
  write(uid: PodUid, text: string): Promise<void>
  remove(uid: PodUid): Promise<void>
  /** Moves a text that cannot be read out of the way. */
  setAside(uid: PodUid): Promise<void>
}

export interface PodTerminationDeps {
  readonly terminations: {
    readonly notes: TerminationNotes
    /** Of the machine as it runs now: times on the monotonic clock of another boot mean nothing. */
    readonly bootId: string
    /** The node shuts down: a pod that was ending for that ends on. */
    readonly isNodeEnding: () => boolean
  }
  readonly clock: Clock
  readonly log: Logger
}

// Most pods end sooner, and cost the disk nothing. An agent that is killed before that gives its pod a second more.
const NOTE_AFTER_MS = 1000

/**
 * How far the end of a pod is: when its grace is over, and which of its preStop hooks were begun and have ended. An agent that is started
 * in the middle of it, and a step that is tried again, go on from there. A hook that has ended never runs again; one that was cut off in
 * the middle does, within what is left of the grace. The same holds for containers that are stopped while their pod goes on.
 */
export class PodTermination {
  readonly #deps: PodTerminationDeps
  readonly #uid: PodUid
  readonly #hooks = new Map<string, HookNote>()
  /** What is stopped while the pod goes on. */
  readonly #stops = new Map<string, StopNote>()
  readonly #changed = new Wakeup()
  /** On the monotonic clock; undefined until the end has begun. */
  #endsAt: number | undefined
  #noted = ''
  #noting: Promise<void> = Promise.resolve()

  constructor(deps: PodTerminationDeps, uid: PodUid) {
    this.#deps = deps
    this.#uid = uid
  }

  /** Undefined until the end has begun. */
  get secondsLeft(): number | undefined {
    return this.#endsAt && Math.max(0, this.#endsAt - this.#deps.clock.monotonic()) / 1000
  }

  /** Reads what an earlier agent noted; fails when it can be read later. It counts for nothing when the pod does not end after all, such as one whose manifest is back. */
  async recall(isEnding: boolean): Promise<void> {
    const { terminations, log } = this.#deps
    try {
      const text = await terminations.notes.read(this.#uid)
      if (text === undefined) return
      const { bootId, endsAt, hooks, stops } = parseTerminationNote(text)
      const counts = bootId === terminations.bootId
      const isGoingOn = !isEnding && !terminations.isNodeEnding()
      if (isGoingOn && !(counts && stops.size > 0)) return await terminations.notes.remove(this.#uid)
      if (!counts) return
      this.#noted = text
      if (!isGoingOn) this.#endsAt = endsAt
      for (const [id, stop] of stops) this.#stops.set(id, stop)
      for (const [id, hook] of hooks) if (!isGoingOn || endsAt === undefined) this.#hooks.set(id, hook)
    } catch (error) {
      throwIfTransient(error)
      log.warn('cannot use what was noted about the end of a pod, setting it aside', { uid: this.#uid, error })
      await terminations.notes.setAside(this.#uid).catch(() => {})
    }
  }

  /** The pod has so many seconds from now, or what was left of its grace before, whatever is less. Returns that. */
  begin(seconds: number): number {
    const now = this.#deps.clock.monotonic()
    this.#endsAt = Math.min(this.#endsAt ?? Infinity, now + seconds * 1000)
    return Math.max(0, this.#endsAt - now) / 1000
  }

  /** An end that has begun has no more than so many seconds from now. */
  shorten(seconds: number): void {
    if (this.#endsAt === undefined) return
    this.begin(seconds)
    this.#changed.wake()
  }

  /** A part of a pod that goes on has so many seconds from now to stop, or what was left when it was tried before. Returns that. */
  beginStop(id: string, seconds: number, cause?: KillCause): number {
    const now = this.#deps.clock.monotonic()
    const endsAt = Math.min(this.#stops.get(id)?.endsAt ?? Infinity, now + seconds * 1000)
    this.#stops.set(id, { endsAt, isFailedStart: cause === 'postStart' })
    return Math.max(0, endsAt - now) / 1000
  }

  /** The ids of containers that are to be stopped because their postStart hook failed. */
  get failedStarts(): ReadonlySet<string> {
    return new Set([...this.#stops].flatMap(([id, { isFailedStart }]) => (isFailedStart ? [id] : [])))
  }

  /** It has stopped, and with it these containers. */
  async endStop(id: string, containerIds: readonly string[]): Promise<void> {
    this.#stops.delete(id)
    for (const containerId of containerIds) this.#hooks.delete(containerId)
    if (this.#noted !== '') await this.#note()
  }

  /** The hook of this container; undefined when it was never begun. */
  hook(containerId: string): HookNote | undefined {
    return this.#hooks.get(containerId)
  }

  /** Returns for how many milliseconds the hook has run already, since it was first begun. */
  beginHook(containerId: string): number {
    const now = this.#deps.clock.monotonic()
    const { startedAt } = this.#hooks.getOrInsertComputed(containerId, () => ({ startedAt: now, ended: false }))
    return Math.max(0, now - startedAt)
  }

  /** Resolves when no later agent runs the hook again. */
  async endHook(containerId: string): Promise<void> {
    const startedAt = this.#hooks.get(containerId)?.startedAt ?? this.#deps.clock.monotonic()
    this.#hooks.set(containerId, { startedAt, ended: true })
    await this.#note()
  }

  /** Does work that stops the pod. When it takes long, the next agent can read how far it is; nothing is written after it has ended. */
  async keepNoted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    using scope = new AbortScope(signal)
    const noting = this.#noteChanges(scope.signal).catch(() => {})
    try {
      return await work()
    } finally {
      scope.abort(new Error('The work has ended'))
      await noting
      await this.#noting
    }
  }

  async #noteChanges(signal: AbortSignal): Promise<void> {
    await this.#deps.clock.sleep(NOTE_AFTER_MS, signal)
    for (;;) {
      await this.#note()
      await this.#changed.wait({ clock: this.#deps.clock, ms: undefined }, signal)
    }
  }

  /** One write after the other: each has all that is known when its turn comes. */
  async #note(): Promise<void> {
    this.#noting = this.#noting.then(() => this.#write())
    await this.#noting
  }

  async #write(): Promise<void> {
    const { terminations, log } = this.#deps
    const { bootId, notes } = terminations
    const isEmpty = this.#endsAt === undefined && this.#stops.size === 0
    const { hooks, stops } = { hooks: this.#hooks, stops: this.#stops }
    const text = isEmpty ? '' : formatTerminationNote({ bootId, endsAt: this.#endsAt, hooks, stops })
    if (text === this.#noted) return
    try {
      await (isEmpty ? notes.remove(this.#uid) : notes.write(this.#uid, text))
      this.#noted = text
    } catch (error) {
      const problem = 'cannot note how far the end of a pod is, a restart of the agent would begin it again'
      log.warn(problem, { uid: this.#uid, error })
    }
  }
}
