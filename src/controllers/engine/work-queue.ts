import { computeBackOff } from '../../base/async/back-off.ts'
import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { WorkKey } from './live-object.ts'

/** When an object has to be handled again without any change; undefined: not before the next one. */
export type NextTurn = { readonly afterMs: number } | undefined

export interface QueueDeps {
  readonly clock: Clock
  /** A failure; the object is handled again after a while. */
  readonly onFailure: (key: WorkKey, error: unknown) => void
}

const RETRY = { firstMs: 5, longestMs: 300_000 }
const AT_ONCE = 5

/** Objects to be handled: each at most once at a time, and once more when it changes meanwhile. */
export class WorkQueue {
  readonly #deps: QueueDeps
  /** When each is due, in the time of clock.monotonic(). */
  readonly #due = new Map<WorkKey, number>()
  readonly #running = new Set<WorkKey>()
  readonly #failures = new Map<WorkKey, number>()
  readonly #wakeup = new Wakeup()

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  add(key: WorkKey): void {
    this.#addAt(key, 0)
  }

  /** Not before some time has passed, unless it is added again. */
  addAfter(key: WorkKey, ms: number): void {
    this.#addAt(key, this.#deps.clock.monotonic() + ms)
  }

  /** Handles what is due until the signal aborts. */
  async run(handle: (key: WorkKey, signal: AbortSignal) => Promise<NextTurn>, signal: AbortSignal): Promise<never> {
    await using group = new TaskGroup(signal)
    for (;;) {
      const key = this.#running.size < AT_ONCE ? this.#take() : undefined
      if (key === undefined) await this.#wakeup.wait({ clock: this.#deps.clock, ms: this.#msUntilDue() }, signal)
      else group.run(key, (s) => this.#handle(key, handle, s))
    }
  }

  #addAt(key: WorkKey, at: number): void {
    const known = this.#due.get(key)
    if (known !== undefined && known <= at) return
    this.#due.set(key, at)
    this.#wakeup.wake()
  }

  #take(): WorkKey | undefined {
    const now = this.#deps.clock.monotonic()
    for (const [key, at] of this.#due) {
      if (at > now || this.#running.has(key)) continue
      this.#due.delete(key)
      this.#running.add(key)
      return key
    }
    return undefined
  }

  #msUntilDue(): number | undefined {
    if (this.#running.size >= AT_ONCE) return undefined
    const waiting = [...this.#due].filter(([key]) => !this.#running.has(key)).map(([, at]) => at)
    return waiting.length === 0 ? undefined : Math.max(0, Math.min(...waiting) - this.#deps.clock.monotonic())
  }

  async #handle(
    key: WorkKey,
    handle: (key: WorkKey, signal: AbortSignal) => Promise<NextTurn>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const next = await handle(key, signal)
      this.#failures.delete(key)
      if (next !== undefined) this.addAfter(key, next.afterMs)
    } catch (error) {
      if (signal.aborted) throw error
      const failures = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      this.#deps.onFailure(key, error)
      this.addAfter(key, computeBackOff(RETRY, failures))
    } finally {
      this.#running.delete(key)
      this.#wakeup.wake()
    }
  }
}
