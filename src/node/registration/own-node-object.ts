import type { Node } from '../../model/generated/core-v1.ts'

/** The newest known version of the own Node object: from a watch, or from a later answer of the API. */
export class OwnNodeObject {
  readonly #watched: () => Node | undefined
  #answer: { readonly node: Node; readonly watchedThen: string | undefined } | undefined

  constructor(watched: () => Node | undefined) {
    this.#watched = watched
  }

  /** An answer counts until the watch moves on. */
  get current(): Node | undefined {
    const watched = this.#watched()
    return this.#answer?.watchedThen === watched?.metadata?.resourceVersion ? (this.#answer?.node ?? watched) : watched
  }

  /** Takes note of what the API has answered. */
  note(node: Node): void {
    this.#answer = { node, watchedThen: this.#watched()?.metadata?.resourceVersion }
  }

  /** The API knows no such object. */
  noteGone(): void {
    this.#answer = undefined
  }
}
