import type { Clock } from '../../base/async/clock.ts'
import type { ObjectMeta } from '../../model/generated/core-v1.ts'
import { isMissingObject } from './object-store.ts'

interface Versioned {
  readonly metadata?: ObjectMeta | undefined
}

export interface CachedObjectDeps<T> {
  /** Cached: an answer from the API server's own memory will do. */
  readonly get: (options: { readonly cached: boolean }) => Promise<T>
  readonly ttlMs: () => number
  readonly clock: Clock
}

interface Fetched<T> {
  /** Undefined for an object that does not exist. */
  readonly object: T | undefined
  readonly at: number
}

/** One object that is asked for again when what is known of it is too old. Readers at the same time share one question. */
export class CachedObject<T extends Versioned> {
  readonly #deps: CachedObjectDeps<T>
  #fetched: Fetched<T> | undefined
  #lastFailed = false
  #fetching: Promise<Fetched<T>> | undefined

  constructor(deps: CachedObjectDeps<T>) {
    this.#deps = deps
  }

  /** A new pod gets the object as it is after the pod was made. */
  invalidate(): void {
    this.#fetched = undefined
    this.#fetching = undefined
  }

  async read(): Promise<T | undefined> {
    const { clock, ttlMs } = this.#deps
    if (this.#fetched !== undefined && clock.monotonic() - this.#fetched.at < ttlMs()) return this.#fetched.object
    const fetching = (this.#fetching ??= this.#fetch())
    try {
      return (await fetching).object
    } finally {
      if (this.#fetching === fetching) this.#fetching = undefined
    }
  }

  async #fetch(): Promise<Fetched<T>> {
    const before = this.#fetched
    const at = this.#deps.clock.monotonic()
    const cached = before?.object !== undefined && !this.#lastFailed
    let object: T | undefined
    try {
      object = newer(before?.object, await this.#deps.get({ cached }))
    } catch (error) {
      if (!isMissingObject(error)) {
        this.#lastFailed = true
        if (before !== undefined) return before
        throw error
      }
    }
    const fetched = { object, at }
    // Not after an invalidation: this was asked before it.
    if (this.#fetched === before) {
      this.#fetched = fetched
      this.#lastFailed = false
    }
    return fetched
  }
}

/** The API server's memory may be behind what we know already. */
function newer<T extends Versioned>(known: T | undefined, reported: T): T {
  const [before, after] = [known, reported].map((object) => object?.metadata?.resourceVersion ?? '')
  return known !== undefined && isNumber(before) && isNumber(after) && BigInt(after) < BigInt(before) ? known : reported
}

function isNumber(text: string | undefined): text is string {
  return text !== undefined && /^\d+$/.test(text)
}
