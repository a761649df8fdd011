import type { Clock } from './clock.ts'
import { AbortScope } from './abort-scope.ts'
import { computePlaces, firstPlaces } from './compute-places.ts'
import type { PlaceLimits, Places } from './compute-places.ts'

interface Waiting {
  readonly priority: number
  readonly enter: () => void
}

// So many turns of each place are one measurement.
const ROUNDS = 4

export interface TurnstileOptions {
  readonly places: number
  /** Between them the number of places follows what is done: more while that gets more done. Undefined: it stays. */
  readonly adapt?: PlaceLimits
  readonly patienceMs: number
  /** Work counts until this has ended too, however it ends; undefined: only as long as the patience lasts. */
  readonly extendPatience?: (signal: AbortSignal) => Promise<unknown>
  readonly clock: Clock
}

/**
 * Lets a few through at a time, the highest priority first, equal ones in order of arrival. Work that stays inside longer than the
 * patience no longer counts: one that hangs must not keep the others out.
 */
export class Turnstile {
  readonly #adapt: PlaceLimits
  readonly #patienceMs: number
  readonly #extendPatience: (signal: AbortSignal) => Promise<unknown>
  readonly #clock: Clock
  readonly #queue: Waiting[] = []
  #places: Places
  #inside = 0
  /** Since when others have waited all the time, and how many turns have ended since. */
  #measured: { readonly from: number; readonly ended: number } | undefined

  constructor(options: TurnstileOptions) {
    this.#adapt = options.adapt ?? { least: options.places, most: options.places }
    this.#places = firstPlaces(options.places, this.#adapt)
    this.#patienceMs = options.patienceMs
    this.#extendPatience = options.extendPatience ?? (async () => {})
    this.#clock = options.clock
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** How many are let in at the moment. */
  get places(): number {
    return this.#places.count
  }

  /** Runs work when it is its turn. */
  async runInTurn<T>(priority: number, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
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
    void this.#runOut(patience.signal).then(leave)
    try {
      const result = await work()
      this.#measure()
      return result
    } finally {
      leave()
    }
  }

  /** Settles when work that is still inside no longer counts, or has ended. */
  async #runOut(signal: AbortSignal): Promise<void> {
    try {
      await this.#clock.sleep(this.#patienceMs, signal)
      await this.#extendPatience(signal)
    } catch {
      // It has ended, or what extends the patience has failed.
    }
  }

  async #enter(priority: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#inside < this.#places.count && this.#queue.length === 0) {
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

  /** One more turn has ended. What is measured while no caller waits says nothing about the number of places. */
  #measure(): void {
    if (this.#adapt.least === this.#adapt.most) return
    const now = this.#clock.monotonic()
    if (this.#queue.length === 0) {
      this.#measured = undefined
      return
    }
    const { from, ended } = this.#measured ?? { from: now, ended: -1 }
    this.#measured = { from, ended: ended + 1 }
    if (ended + 1 < ROUNDS * this.#places.count || now <= from) return
    this.#places = computePlaces(this.#places, (ended + 1) / (now - from), this.#adapt)
    this.#measured = { from: now, ended: 0 }
  }

  #admit(): void {
    while (this.#inside < this.#places.count) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#inside += 1
      next.enter()
    }
  }
}
