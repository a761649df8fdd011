/** A manifest file that is not used as it is, and why. */
export interface RefusedManifest {
  readonly file: string
  /** From 1; undefined where the file as a whole cannot be used. */
  readonly line?: number | undefined
  readonly reason: string
  /** Pods of its last good version go on. */
  readonly hasLastGood: boolean
}

/** The manifests that are refused at the moment, for those who ask what is wrong. */
export class RefusedManifests {
  readonly #files = new Map<string, RefusedManifest>()

  set(refused: RefusedManifest): void {
    this.#files.set(refused.file, refused)
  }

  delete(file: string): void {
    this.#files.delete(file)
  }

  /** In the order of their paths. */
  list(): readonly RefusedManifest[] {
    return [...this.#files.values()].sort((a, b) => (a.file < b.file ? -1 : 1))
  }
}
