import type { Clock } from '../../base/async/clock.ts'
import { EventRepeats } from '../../model/events/event-repeats.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'

/** Reports on the node, now and then, that dead containers cannot be removed: they fill its disk. */
export function createGarbageReports({ events, clock }: { readonly events: NodeEvents; readonly clock: Clock }) {
  const repeats = new EventRepeats<string>(new Map())
  const reason = 'ContainerGCFailed'
  return (message: string): void => {
    if (repeats.isDue(reason, message, clock.monotonic())) events.record({ type: 'Warning', reason, message })
  }
}
