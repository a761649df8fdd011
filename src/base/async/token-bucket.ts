import type { Clock } from './clock.ts'

/** A rate limit that rejects instead of waiting: full at first, and filled again at its rate. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  readonly #clock: Clock
  #tokens: number
  #filledAt: number

  /** A rate of 0 is no limit. */
  constructor(options: { readonly perSecond: number; readonly burst: number; readonly clock: Clock }) {
    this.#perSecond = options.perSecond
    this.#burst = options.burst
    this.#clock = options.clock
    this.#tokens = options.burst
    this.#filledAt = options.clock.monotonic()
  }

  /** Takes a token if there is one. */
  take(): boolean {
    if (this.#perSecond <= 0) return true
    const now = this.#clock.monotonic()
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond)
    this.#filledAt = now
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
