/** What to read again. */
export interface Changes {
  /** The names, or 'all' to read everything. */
  readonly names: readonly string[] | 'all'
  /** Those that went and were made again: what is there now is another file, whatever is in it. */
  readonly recreated: readonly string[]
  /** Those that went, or were made, or were given to another file: which of it is not known. */
  readonly renamed: readonly string[]
}

/** Collects what a watch reports until its reader has time for it. */
export class ChangeHints {
  /** By name: how often it appeared, went or was given to another file. */
  readonly #renames = new Map<string, number>()
  #all = false
  #wake = Promise.withResolvers<void>()

  /** Some name changed; undefined if it is not known which. */
  add(name: string | undefined, what: 'rename' | 'change'): void {
    if (name === undefined) this.#all = true
    else this.#renames.set(name, (this.#renames.get(name) ?? 0) + (what === 'rename' ? 1 : 0))
    this.#wake.resolve()
  }

  /** Resolves when there is something to take. */
  get pending(): Promise<void> {
    return this.#wake.promise
  }

  /** The names so far, or 'all'; they stay. */
  peek(): readonly string[] | 'all' {
    return this.#all ? 'all' : [...this.#renames.keys()]
  }

  /**
   * Empties the collection. A file that another takes the place of in one step is reported once; one that is removed and made again is
   * reported twice, and so are two such steps within this short time.
   */
  take(): Changes {
    const names = this.peek()
    const recreated = [...this.#renames].filter(([, count]) => count > 1).map(([name]) => name)
    const renamed = [...this.#renames].filter(([, count]) => count === 1).map(([name]) => name)
    this.#renames.clear()
    this.#all = false
    this.#wake = Promise.withResolvers()
    return { names, recreated, renamed }
  }
}
