/** A map of so many entries: the one that was not used for the longest time makes room for a new one. */
export class LruMap<V> {
  readonly #most: number
  readonly #entries = new Map<string, V>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.#putLast(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#putLast(key, value)
    if (this.#entries.size <= this.#most) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  /** A Map keeps the order in which its keys came. */
  #putLast(key: string, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
  }
}
