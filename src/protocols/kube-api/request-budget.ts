import type { Clock } from '../../base/async/clock.ts'

export interface BudgetOptions {
  /** Requests a second; below 0 without limit, 0 is the usual 5. */
  readonly qps: number
  /** So many at once; 0 is the usual 10. */
  readonly burst: number
  readonly clock: Clock
}

const USUAL_QPS = 5
const USUAL_BURST = 10

/** How many requests a client may make: a request that comes too early waits, in order of arrival. */
export class RequestBudget {
  readonly #clock: Clock
  readonly #perMs: number
  readonly #burst: number
  /** Below zero: so many wait already. */
  #left: number
  #filledAt: number

  constructor({ qps, burst, clock }: BudgetOptions) {
    this.#clock = clock
    this.#perMs = qps < 0 ? Infinity : (qps === 0 ? USUAL_QPS : qps) / 1000
    this.#burst = burst <= 0 ? USUAL_BURST : burst
    this.#left = this.#burst
    this.#filledAt = clock.monotonic()
  }

  /** Resolves, when it is this request's turn, to how long that took. */
  async take(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted()
    if (this.#perMs === Infinity) return 0
    const now = this.#clock.monotonic()
    this.#left = Math.min(this.#burst, this.#left + (now - this.#filledAt) * this.#perMs)
    this.#filledAt = now
    this.#left -= 1
    if (this.#left >= 0) return 0
    const waitMs = -this.#left / this.#perMs
    try {
      await this.#clock.sleep(waitMs, signal)
    } catch (error) {
      this.#left += 1
      throw error
    }
    return waitMs
  }
}
