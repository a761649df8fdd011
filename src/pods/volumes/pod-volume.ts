import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { HintLimit } from '../../protocols/kube-api/list-watch/api-return.ts'
import { ObjectError } from '../objects/object-api.ts'
import { computeNextTry } from './compute-next-try.ts'
import type { NextTry } from './compute-next-try.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import { UncertainMountError } from './volume-kind.ts'
import type { SetUpRequest, TearDownRequest } from './volume-kind.ts'
import { VolumeStepError } from './volume-step-error.ts'
import type { ReadyVolume, VolumePlace, DesiredVolume } from './desired-volume.ts'
import { errorText } from '../../base/telemetry/error-text.ts'

export type VolumeOperation = 'mount' | 'unmount'

export interface PodVolumeDeps {
  readonly clock: Clock
  /** Owns what is under way: it ends with the agent, not with the caller that waits for it. */
  readonly group: TaskGroup
  readonly setUp: (request: SetUpRequest, signal: AbortSignal) => Promise<ReadyVolume>
  readonly tearDown: (request: TearDownRequest, signal: AbortSignal) => Promise<void>
  /** Error: undefined when it went well. */
  readonly onDone: (
    volume: PodVolume,
    result: {
      readonly operation: VolumeOperation
      readonly ms: number
      readonly error: unknown
    },
  ) => void
}

type State =
  /** Never tried, or taken away again. */
  | { readonly kind: 'absent' }
  /** Tried and not there; some of it may lie on the disk. */
  | { readonly kind: 'failed' }
  /** Perhaps there: found after a restart, being mounted, or given up in between. */
  | { readonly kind: 'uncertain'; readonly found: boolean }
  | { readonly kind: 'mounted'; readonly ready: ReadyVolume }

interface Operation {
  readonly name: VolumeOperation
  readonly scope: AbortScope
  readonly done: Promise<void>
}

// Passes over a starting pod follow each other within moments; what a volume shows does not change that fast.
const REFRESH_PAUSE_MS = 10_000

/** One volume of one pod: at most one thing is done with it at a time, and after a failure only when its time has come. */
export class PodVolume {
  readonly plugin: string
  readonly place: VolumePlace
  readonly #deps: PodVolumeDeps
  readonly #wakeup = new Wakeup()
  #state: State
  #desired: DesiredVolume | undefined
  #operation: Operation | undefined
  #nextTry: NextTry<VolumeOperation> | undefined
  /** The last try failed because the API did not answer. */
  #lacksApi = false
  readonly #hints = new HintLimit()
  /** On the monotonic clock: when it was last up to date; undefined when what it shows has changed since. */
  #ensuredAt: number | undefined
  #changes = 0
  /** Asked for while something else was under way. */
  #nextRefresh: DesiredVolume | undefined

  constructor(
    deps: PodVolumeDeps,
    volume: { readonly plugin: string; readonly place: VolumePlace; readonly found: boolean },
  ) {
    this.#deps = deps
    this.plugin = volume.plugin
    this.place = volume.place
    this.#state = volume.found ? { kind: 'uncertain', found: true } : { kind: 'absent' }
  }

  /** As it was last asked for; undefined for what was found on the disk and no pod asked for yet. */
  get desired(): DesiredVolume | undefined {
    return this.#desired
  }

  /** What containers get; undefined while it is not there. */
  get ready(): ReadyVolume | undefined {
    return this.#state.kind === 'mounted' ? this.#state.ready : undefined
  }

  /** Nothing of it is on the node, for certain. */
  get isAbsent(): boolean {
    return this.#state.kind === 'absent' && this.#operation === undefined
  }

  /** It is mounted, or may be. */
  get mayBeThere(): boolean {
    return this.#state.kind === 'mounted' || this.#state.kind === 'uncertain'
  }

  /** Resolves when it is there, however many tries that takes. What is under way goes on when the signal aborts. */
  async ensure(desired: DesiredVolume, noteStep: NoteStep, signal: AbortSignal): Promise<void> {
    this.#desired = desired
    const what = `volume "${desired.name}"`
    while (this.#state.kind !== 'mounted') {
      await this.#turn({ name: 'mount', again: `wait to mount ${what} again` }, noteStep, signal)
      if (this.#operation !== undefined || this.#isMounted() || this.#pauseBefore('mount') > 0) continue
      await waitForShared(this.#mount(desired, noteStep), signal)
    }
  }

  /** Updates it in the background; when it fails, what is there stays. */
  refresh(desired: DesiredVolume): void {
    const isFresh = this.#ensuredAt !== undefined && this.#deps.clock.monotonic() < this.#ensuredAt + REFRESH_PAUSE_MS
    if (isFresh && desired.pod === this.#desired?.pod) return
    if (this.#operation !== undefined) this.#nextRefresh = desired
    if (this.#operation !== undefined || this.#pauseBefore('mount') > 0) return
    this.#desired = desired
    void this.#mount(desired, (_, work) => work()) // The group owns it.
  }

  /** What it waited for may be there: the next try need not wait, whether it mounts or unmounts. */
  retry(): void {
    if (this.#nextTry !== undefined) this.#nextTry = { ...this.#nextTry, at: this.#deps.clock.monotonic() }
    this.#wakeup.wake()
  }

  /** The API answers: what failed without it is tried again, but not each time that others reach it. */
  apiAnswers(): void {
    if (!this.#lacksApi || this.#nextTry === undefined || this.#operation !== undefined) return
    if (this.#hints.take(this.#deps.clock.monotonic(), this.#nextTry.delayMs)) this.retry()
  }

  /** What it shows has changed, or is there now: the next try need not wait. */
  contentChanged(): void {
    if (this.#nextTry?.operation === 'mount') this.#nextTry = { ...this.#nextTry, at: this.#deps.clock.monotonic() }
    this.#ensuredAt = undefined
    this.#changes += 1
    this.#wakeup.wake()
  }

  /** Resolves when nothing of it is left, however many tries that takes. A mount that is under way is given up. */
  async takeDown(noteStep: NoteStep, signal: AbortSignal): Promise<void> {
    this.#nextRefresh = undefined
    if (this.#operation?.name === 'mount') this.#operation.scope.abort(new Error('The pod has ended'))
    const what = `volume "${this.#desired?.name ?? this.place.specName}"`
    while (!this.isAbsent) {
      await this.#turn({ name: 'unmount', again: `wait to unmount ${what} again` }, noteStep, signal)
      if (this.#operation !== undefined || this.isAbsent || this.#pauseBefore('unmount') > 0) continue
      await waitForShared(this.#unmount(what, noteStep), signal)
    }
  }

  /** Waits until what is under way has ended, and then until the next try is due. */
  async #turn(
    next: { readonly name: VolumeOperation; readonly again: string },
    noteStep: NoteStep,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted()
    this.#deps.group.signal.throwIfAborted()
    if (this.#operation !== undefined) return await waitForShared(this.#operation.done, signal)
    const pause = this.#pauseBefore(next.name)
    if (pause <= 0) return
    const { clock } = this.#deps
    await noteStep(`${next.again}: ${this.#nextTry?.why}`, () => this.#wakeup.wait({ clock, ms: pause }, signal))
    signal.throwIfAborted()
  }

  #pauseBefore(name: VolumeOperation): number {
    return this.#nextTry?.operation === name ? this.#nextTry.at - this.#deps.clock.monotonic() : 0
  }

  #mount(desired: DesiredVolume, noteStep: NoteStep): Promise<void> {
    const before = this.#state
    const changes = this.#changes
    if (before.kind !== 'mounted') this.#state = { kind: 'uncertain', found: isFound(before) }
    return this.#begin('mount', async (signal) => {
      const step = `mount volume "${desired.name}" (${this.plugin})`
      try {
        const ready = before.kind === 'mounted' ? before.ready : undefined
        const request = { ...desired, ready, isFound: isFound(before), noteStep }
        this.#state = { kind: 'mounted', ready: await noteStep(step, () => this.#deps.setUp(request, signal)) }
        this.#ensuredAt = changes === this.#changes ? this.#deps.clock.monotonic() : undefined
      } catch (error) {
        // Given up: how far it came is not known.
        if (!signal.aborted) this.#state = afterFailure(before, error)
        throw error
      }
    })
  }

  #unmount(what: string, noteStep: NoteStep): Promise<void> {
    // From here on it counts as absent, however this ends.
    this.#state = { kind: 'uncertain', found: false }
    return this.#begin('unmount', async (signal) => {
      const request = { ...this.place, noteStep }
      await noteStep(`unmount ${what} (${this.plugin})`, () => this.#deps.tearDown(request, signal))
      this.#state = { kind: 'absent' }
    })
  }

  /** Resolves at the end of the work, whatever came of it. */
  #begin(name: VolumeOperation, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, group, onDone } = this.#deps
    const scope = new AbortScope(group.signal)
    const end = Promise.withResolvers<void>()
    const startedAt = clock.monotonic()
    this.#operation = { name, scope, done: end.promise }
    group.run(`${name} volume ${this.place.path}`, async () => {
      using _ = scope
      let error: unknown
      try {
        await work(scope.signal)
        this.#nextTry = undefined
        this.#lacksApi = false
      } catch (failure) {
        error = failure
        this.#lacksApi = isApiMissing(failure)
        const why = errorText(failure)
        if (!scope.signal.aborted)
          this.#nextTry = computeNextTry(this.#nextTry, { operation: name, why }, clock.monotonic())
      }
      this.#operation = undefined
      if (!scope.signal.aborted) onDone(this, { operation: name, ms: clock.monotonic() - startedAt, error })
      end.resolve()
      this.#refreshNext()
    })
    return end.promise
  }

  #refreshNext(): void {
    const next = this.#nextRefresh
    this.#nextRefresh = undefined
    if (next !== undefined && this.#isMounted() && !this.#deps.group.signal.aborted) this.refresh(next)
  }

  // Asked by its own name: the compiler believes that a state which was another a moment ago still is.
  #isMounted(): boolean {
    return this.#state.kind === 'mounted'
  }
}

function isApiMissing(error: unknown): boolean {
  if (error instanceof ObjectError && error.reason === 'Unavailable') return true
  return error instanceof Error && isApiMissing(error.cause)
}

function isFound(state: State): boolean {
  return state.kind === 'uncertain' && state.found
}

/** What was there stays: containers may use it. So may what was found after a restart be in use. */
function afterFailure(before: State, error: unknown): State {
  if (before.kind === 'mounted' || isFound(before)) return before
  if (error instanceof VolumeStepError) {
    if (error.outcome === 'untried') return before.kind === 'absent' ? { kind: 'failed' } : before
    return error.outcome === 'uncertain' ? { kind: 'uncertain', found: false } : { kind: 'failed' }
  }
  return error instanceof UncertainMountError ? { kind: 'uncertain', found: false } : { kind: 'failed' }
}
