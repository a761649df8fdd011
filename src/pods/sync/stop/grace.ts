import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'

/**
 * The time within which something of a pod has to stop. It runs from the start, and its end can only move closer: those who wait for it,
 * or gave it to the runtime, learn of that at once.
 */
export class Grace implements Disposable {
  readonly #clock: Clock
  readonly #among: Set<Grace>
  #endsAt: number
  #moved = Promise.withResolvers<void>()

  /** Among: all that run in the same pod; it stays there until its block ends. */
  constructor(options: { readonly clock: Clock; readonly seconds: number; readonly among: Set<Grace> }) {
    this.#clock = options.clock
    this.#endsAt = options.clock.monotonic() + options.seconds * 1000
    this.#among = options.among
    this.#among.add(this)
  }

  /** Only whole seconds that have passed are taken away. */
  get secondsLeft(): number {
    return Math.max(0, Math.ceil((this.#endsAt - this.#clock.monotonic()) / 1000))
  }

  /** Settles when the end moves closer than it is now. */
  get shortened(): Promise<void> {
    return this.#moved.promise
  }

  /** Ends in so many seconds from now, unless it ends sooner anyway. */
  shorten(seconds: number): void {
    const endsAt = this.#clock.monotonic() + seconds * 1000
    if (endsAt >= this.#endsAt) return
    this.#endsAt = endsAt
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
  }

  /** Waits for something, but no longer than until the end, or for so many seconds at least: true when it came in time. */
  async waitFor(something: Promise<unknown>, signal: AbortSignal, leastSeconds = 0): Promise<boolean> {
    using wait = new AbortScope(signal)
    const least = leastSeconds > 0 ? this.#clock.sleep(leastSeconds * 1000, wait.signal) : undefined
    const end = Promise.all([this.#end(wait.signal), least])
    return await Promise.race([something.then(() => true), end.then(() => false)])
  }

  async #end(signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = this.#endsAt - this.#clock.monotonic()
      if (left <= 0) return
      using sleep = new AbortScope(signal)
      await Promise.race([this.#clock.sleep(left, sleep.signal), this.#moved.promise])
    }
  }

  [Symbol.dispose](): void {
    this.#among.delete(this)
  }
}
