import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'

const LOOKUP_MS = 30_000

/** One lookup for all who ask the same at the same time. It goes on when the one who asked first leaves. */
export class SharedLookups<T> {
  readonly #clock: Clock
  readonly #lifetime: AbortSignal
  readonly #running = new Map<string, Promise<T>>()

  /** The lifetime ends what still runs. */
  constructor(clock: Clock, lifetime: AbortSignal) {
    this.#clock = clock
    this.#lifetime = lifetime
  }

  async find(key: string, lookUp: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const known = this.#running.get(key)
    if (known !== undefined) return await waitForShared(known, signal)
    const options = { clock: this.#clock, ms: LOOKUP_MS, what: 'a question to the API server' }
    const running = withDeadline(options, lookUp, this.#lifetime).finally(() => this.#running.delete(key))
    running.catch(() => {}) // All who waited may have left.
    this.#running.set(key, running)
    return await waitForShared(running, signal)
  }
}
