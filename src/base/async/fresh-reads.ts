interface Reading<T> {
  readonly running: Promise<T>
  next: Promise<T> | undefined
}

/**
 * Shares reads per key without ever giving a stale one: a caller gets the result of a read that began after its call. While one runs,
 * all later callers share the one that follows it.
 */
export class FreshReads<K, T> {
  readonly #read: (key: K) => Promise<T>
  readonly #readings = new Map<K, Reading<T>>()

  constructor(read: (key: K) => Promise<T>) {
    this.#read = read
  }

  read(key: K): Promise<T> {
    const current = this.#readings.get(key)
    if (current === undefined) return this.#start(key)
    current.next ??= current.running.then(
      () => this.#start(key),
      () => this.#start(key),
    )
    return current.next
  }

  #start(key: K): Promise<T> {
    const running = this.#read(key).finally(() => {
      if (this.#readings.get(key) === reading && reading.next === undefined) this.#readings.delete(key)
    })
    const reading: Reading<T> = { running, next: undefined }
    this.#readings.set(key, reading)
    return running
  }
}
