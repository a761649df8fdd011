import { waitForShared } from './wait-for-shared.ts'

/** One at a time for each key, in order of arrival. Nothing is kept of a key without holder and waiters. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs work when all who came earlier with this key are done; gives up waiting when the signal aborts. */
  async hold<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const before = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    // A waiter that gives up still passes the turn on only after those before it.
    const turn = Promise.all([before, promise]).then(() => {})
    this.#last.set(key, turn)
    try {
      if (before !== undefined) await waitForShared(before, signal)
      return await work()
    } finally {
      resolve()
      void turn.then(() => {
        if (this.#last.get(key) === turn) this.#last.delete(key)
      })
    }
  }

  get size(): number {
    return this.#last.size
  }
}
