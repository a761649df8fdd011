/** Collects what a watch reports until someone has time for it. */
export class ChangeHints {
  readonly #names = new Set<string>()
  #all = false
  #wake = Promise.withResolvers<void>()

  /** Some name changed; undefined if it is not known which. */
  add(name: string | undefined): void {
    if (name === undefined) this.#all = true
    else this.#names.add(name)
    this.#wake.resolve()
  }

  /** Resolves when there is something to take. */
  get pending(): Promise<void> {
    return this.#wake.promise
  }

  /** The names so far, or 'all'; they stay. */
  peek(): readonly string[] | 'all' {
    return this.#all ? 'all' : [...this.#names]
  }

  /** Empties the collection: the names, or 'all' to read everything. */
  take(): readonly string[] | 'all' {
    const taken = this.peek()
    this.#names.clear()
    this.#all = false
    this.#wake = Promise.withResolvers()
    return taken
  }
}
