import type { NodeEvent, NodeEvents } from './node-events.ts'

/** Keeps events about the node that come before there is somewhere to send them; only for the few of a start. */
export class EarlyNodeEvents implements NodeEvents {
  #kept: readonly NodeEvent[] = []
  #events: NodeEvents | undefined

  record(event: NodeEvent): void {
    if (this.#events === undefined) this.#kept = [...this.#kept, event]
    else this.#events.record(event)
  }

  /** Sends what was kept, and all that comes from now on. */
  passOn(events: NodeEvents): void {
    this.#events = events
    for (const event of this.#kept) events.record(event)
    this.#kept = []
  }
}
