import type { Clock } from '../../base/async/clock.ts'

interface Entry<T> {
  readonly value: T
  readonly until: number
}

/** Remembers answers for a while, each for its own time, and never more than so many. */
export class ExpiringCache<T> {
  readonly #clock: Clock
  readonly #limit: number
  readonly #entries = new Map<string, Entry<T>>()

  constructor(options: { readonly clock: Clock; readonly limit: number }) {
    this.#clock = options.clock
    this.#limit = options.limit
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.until > this.#clock.monotonic()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: T, forMs: number): void {
    if (forMs <= 0) return
    this.#entries.delete(key)
    if (this.#entries.size >= this.#limit) this.#makeRoom()
    this.#entries.set(key, { value, until: this.#clock.monotonic() + forMs })
  }

  /** Expired entries go first; if there are none, the oldest. */
  #makeRoom(): void {
    const now = this.#clock.monotonic()
    for (const [key, { until }] of this.#entries) if (until <= now) this.#entries.delete(key)
    if (this.#entries.size < this.#limit) return
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key)
      return
    }
  }
}
