import type { PodUid } from '../../model/pod/pod.ts'

/** Notifies all watchers of pods that something about one may have changed; costs nothing without watchers. */
export class PodChanges {
  readonly #listeners = new Set<(uid: PodUid) => void>()

  get watchers(): number {
    return this.#listeners.size
  }

  changed(uid: PodUid): void {
    for (const listener of this.#listeners) listener(uid)
  }

  /** Gives the function that ends it. */
  listen(listener: (uid: PodUid) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
