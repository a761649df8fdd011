// One for all: an error records the stack when it is made, and scopes end with every call.
const ENDED = new Error('Scope ended')

/** The scopes of a signal share one listener: Node keeps listeners in a list, and each one more or less walks through it. A node full of pods has thousands. */
class Followers {
  readonly #scopes = new Set<AbortController>()
  readonly #parent: AbortSignal

  constructor(parent: AbortSignal) {
    this.#parent = parent
  }

  add(scope: AbortController): void {
    if (this.#scopes.size === 0) this.#parent.addEventListener('abort', this.#abort, { once: true })
    this.#scopes.add(scope)
  }

  delete(scope: AbortController): void {
    if (this.#scopes.delete(scope) && this.#scopes.size === 0) this.#parent.removeEventListener('abort', this.#abort)
  }

  readonly #abort = () => {
    for (const scope of this.#scopes) scope.abort(this.#parent.reason)
    this.#scopes.clear()
  }
}

const followersOf = new WeakMap<AbortSignal, Followers>()

/** A child of a signal that ends with its block, so that a long-lived parent keeps nothing of it. */
export class AbortScope implements Disposable {
  readonly #own = new AbortController()
  readonly #followers: Followers | undefined

  constructor(parent: AbortSignal) {
    if (parent.aborted) {
      this.#own.abort(parent.reason)
      return
    }
    this.#followers = followersOf.getOrInsertComputed(parent, () => new Followers(parent))
    this.#followers.add(this.#own)
  }

  get signal(): AbortSignal {
    return this.#own.signal
  }

  abort(reason: Error): void {
    this.#own.abort(reason)
  }

  [Symbol.dispose](): void {
    this.#followers?.delete(this.#own)
    this.#own.abort(ENDED)
  }
}
