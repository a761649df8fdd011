/** A manifest file that is not used as it is, and why. */
export interface RefusedManifest {
  readonly file: string
  /** From 1; undefined where the file as a whole cannot be used. */
  readonly line?: number | undefined
  readonly reason: string
  /** Pods of its last good version go on. */
  readonly hasLastGood: boolean
  /** What is in it, as in "default/web", as far as it can be read. */
  readonly names?: readonly string[]
}

/** A field of a manifest that is no field of a pod: the pod runs without it. */
export interface UnusedField {
  readonly file: string
  readonly line: number
  readonly reason: string
  /** The pods of the file, as in "default/web-node". */
  readonly names: readonly string[]
}

/** The manifests that are refused at the moment, for those who ask what is wrong. */
export class RefusedManifests {
  readonly #files = new Map<string, RefusedManifest>()
  readonly #unused = new Map<string, readonly UnusedField[]>()
  #duplicates: readonly RefusedManifest[] = []

  set(refused: RefusedManifest): void {
    this.#files.set(refused.file, refused)
  }

  /** The file is gone or good, but for these fields. */
  delete(file: string, unused: readonly UnusedField[] = []): void {
    this.#files.delete(file)
    if (unused.length === 0) this.#unused.delete(file)
    else this.#unused.set(file, unused)
  }

  /** The manifests with a pod whose name a pod of another manifest has too. */
  setDuplicates(duplicates: readonly RefusedManifest[]): void {
    this.#duplicates = duplicates
  }

  /** What good manifests have that is not used, in the order of their paths. */
  unused(): readonly UnusedField[] {
    return [...this.#unused.values()].flat().sort((a, b) => (a.file < b.file ? -1 : 1))
  }

  /** In the order of their paths. */
  list(): readonly RefusedManifest[] {
    return [...this.#files.values(), ...this.#duplicates].sort((a, b) => (a.file < b.file ? -1 : 1))
  }
}
