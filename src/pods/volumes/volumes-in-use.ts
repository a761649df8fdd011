type Names = readonly string[] | undefined

/** What the node reports as in use, from all kinds of volumes together. Nothing is reported before each kind knows its own. */
export class VolumesInUse {
  readonly #names = new Map<string, Names>()
  readonly #onChange: () => void

  constructor(plugins: readonly string[], onChange: () => void) {
    for (const plugin of plugins) this.#names.set(plugin, undefined)
    this.#onChange = onChange
  }

  set(plugin: string, names: Names): void {
    this.#names.set(plugin, names)
    this.#onChange()
  }

  /** Of all kinds; undefined until those of earlier agents are known. */
  get names(): Names {
    const known: string[] = []
    for (const names of this.#names.values()) {
      if (names === undefined) return undefined
      known.push(...names)
    }
    return known.toSorted()
  }
}
