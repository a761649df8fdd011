import { waitForShared } from './wait-for-shared.ts'

interface Waiter<T> {
  readonly isReached: (value: T) => boolean
  readonly resolve: () => void
}

/** A value that changes over time, and that others can wait for. */
export class WatchedValue<T> {
  readonly #waiters = new Set<Waiter<T>>()
  #value: T

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    this.#value = value
    for (const { isReached, resolve } of this.#waiters) if (isReached(value)) resolve()
  }

  /** Resolves when the value is, or has become, what is asked for. Rejects with the signal's reason when it aborts. */
  async until(isReached: (value: T) => boolean, signal: AbortSignal): Promise<void> {
    if (isReached(this.#value)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { isReached, resolve }
    this.#waiters.add(waiter)
    try {
      await waitForShared(promise, signal)
    } finally {
      this.#waiters.delete(waiter)
    }
  }
}
