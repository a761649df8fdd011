import type { Clock } from './clock.ts'
import { AbortScope } from './abort-scope.ts'

interface Waiting {
  readonly priority: number
  readonly enter: () => void
}

/**
 * Lets a few through at a time, the highest priority first, equal ones in order of arrival. Work that stays inside longer than the
 * patience no longer counts: one that hangs must not keep the others out.
 */
export class Turnstile {
  readonly #places: number
  readonly #patienceMs: number
  readonly #clock: Clock
  readonly #queue: Waiting[] = []
  #inside = 0

  constructor(options: { readonly places: number; readonly patienceMs: number; readonly clock: Clock }) {
    this.#places = options.places
    this.#patienceMs = options.patienceMs
    this.#clock = options.clock
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Runs work when it is its turn. */
  async pass<T>(priority: number, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(priority, signal)
    let counted = true
    const leave = () => {
      if (!counted) return
      counted = false
      this.#inside -= 1
      this.#admit()
    }
    // Not the caller's signal: work that was aborted and still hangs must not keep its place for that.
    using patience = new AbortScope(new AbortController().signal)
    this.#clock.sleep(this.#patienceMs, patience.signal).then(leave, () => {})
    try {
      return await work()
    } finally {
      leave()
    }
  }

  async #enter(priority: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#inside < this.#places && this.#queue.length === 0) {
      this.#inside += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const entry: Waiting = {
        priority,
        enter: () => {
          signal.removeEventListener('abort', abort)
          resolve()
        },
      }
      const abort = () => {
        this.#queue.splice(this.#queue.indexOf(entry), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      const behind = this.#queue.findIndex((other) => other.priority < priority)
      this.#queue.splice(behind === -1 ? this.#queue.length : behind, 0, entry)
    })
  }

  #admit(): void {
    while (this.#inside < this.#places) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#inside += 1
      next.enter()
    }
  }
}
