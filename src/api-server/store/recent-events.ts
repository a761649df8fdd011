import type { StoreEvent } from './api-object.ts'

// Watches that keep up need only the last few; the others read the file, each for itself, which is expensive when there are many.
const LEAST_EVENTS = 128
const MAX_CHARACTERS = 4 * 1024 * 1024

/** The last changes of one resource, kept in memory so that many watches share one reading. */
export class RecentEvents {
  readonly #events: StoreEvent[] = []
  #characters = 0
  #since: number

  /** All changes after this version will be added. */
  constructor(since: number) {
    this.#since = since
  }

  /** Keeps one for each watch. */
  add(event: StoreEvent, watches: number): void {
    this.#events.push(event)
    this.#characters += event.text.length
    const most = Math.max(LEAST_EVENTS, watches)
    while (this.#events.length > most || this.#characters > MAX_CHARACTERS) this.#forgetOldest()
  }

  /** The first changes after a version; undefined when some of them are no longer here. */
  after(version: number, limit: number): readonly StoreEvent[] | undefined {
    if (version < this.#since) return undefined
    let first = this.#events.length
    while (first > 0 && (this.#events[first - 1]?.version ?? 0) > version) first--
    return this.#events.slice(first, first + limit)
  }

  #forgetOldest(): void {
    const oldest = this.#events.shift()
    if (oldest === undefined) return
    this.#characters -= oldest.text.length
    this.#since = oldest.version
  }
}
