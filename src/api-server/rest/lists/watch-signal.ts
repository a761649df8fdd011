import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'

/**
 * Wakes one watch: after changes, at regular times, and when it ends. A watch waits thousands of times, so the timer and the
 * listener for its end are set up once and not for each wait.
 */
export class WatchSignal implements AsyncDisposable {
  readonly #scope: AbortScope
  readonly #ticking: Promise<void>
  #isWoken = false
  #isTick = false
  #resume: (() => void) | undefined

  constructor(clock: Clock, times: { readonly everyMs: number; readonly endsAt: number }, signal: AbortSignal) {
    this.#scope = new AbortScope(signal)
    this.#scope.signal.addEventListener('abort', () => this.wake(), { once: true })
    this.#ticking = this.#tick(clock, times)
  }

  wake(): void {
    this.#isWoken = true
    this.#resume?.()
  }

  /** Whether a regular time has come since this was last asked. */
  takeTick(): boolean {
    const isTick = this.#isTick
    this.#isTick = false
    return isTick
  }

  /** Returns at the next wake-up; at once when there was one since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve
      })
    }
    this.#resume = undefined
    this.#isWoken = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#scope[Symbol.dispose]()
    await this.#ticking
  }

  async #tick(clock: Clock, { everyMs, endsAt }: { everyMs: number; endsAt: number }): Promise<void> {
    const { signal } = this.#scope
    try {
      for (;;) {
        await clock.sleep(Math.max(0, Math.min(everyMs, endsAt - clock.monotonic())), signal)
        this.#isTick = true
        this.wake()
        if (clock.monotonic() >= endsAt) return
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}
