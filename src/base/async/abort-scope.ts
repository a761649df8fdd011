// One for all: an error records the stack when it is made, and scopes end with every call.
const ENDED = new Error('Scope ended')

/** A child of a signal that ends with its block, so that a long-lived parent keeps nothing of it. */
export class AbortScope implements Disposable {
  readonly #own = new AbortController()
  readonly #parent: AbortSignal
  readonly #follow: () => void

  constructor(parent: AbortSignal) {
    this.#parent = parent
    this.#follow = () => this.#own.abort(parent.reason)
    if (parent.aborted) this.#follow()
    else parent.addEventListener('abort', this.#follow, { once: true })
  }

  get signal(): AbortSignal {
    return this.#own.signal
  }

  abort(reason: Error): void {
    this.#own.abort(reason)
  }

  [Symbol.dispose](): void {
    this.#parent.removeEventListener('abort', this.#follow)
    this.#own.abort(ENDED)
  }
}
