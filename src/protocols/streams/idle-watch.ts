import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'

/** Finds out when nothing has happened on a connection for too long. */
export class IdleWatch {
  readonly #clock: Clock
  readonly #changed = new Wakeup()
  #limitMs: number
  #lastMs: number

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#lastMs = clock.monotonic()
  }

  /** Something happened. */
  touch(): void {
    this.#lastMs = this.#clock.monotonic()
  }

  /** From now on it may take at most this long. */
  limit(ms: number): void {
    this.#limitMs = Math.min(this.#limitMs, ms)
    this.#changed.wake()
  }

  /** Returns when it was idle for too long. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = this.#lastMs + this.#limitMs - this.#clock.monotonic()
      if (leftMs <= 0) return
      await this.#changed.wait({ clock: this.#clock, ms: leftMs }, signal)
    }
  }
}
