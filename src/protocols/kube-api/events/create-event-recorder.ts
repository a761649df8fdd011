import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { KubeClient } from '../kube-client.ts'
import { createLoggedNodeEvents } from '../../../model/events/node-events.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import { createLoggedPodEvents } from '../../../model/events/pod-events.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { EventCorrelator } from './event-correlator.ts'
import { EventFactory } from './event-factory.ts'
import type { EventInput, NamedEvent } from './event-factory.ts'
import { sendEvent } from './send-event.ts'

export interface EventRecorderDeps {
  /** With limits of its own (eventRecordQPS, eventBurst): events never take the turn of a status. */
  readonly client: KubeClient
  readonly nodeName: string
  /** Whose events they are; the kubelet's when absent. */
  readonly component?: string
  readonly clock: Clock
  readonly random: () => number
  readonly newUid: () => string
  readonly log: Logger
}

/** Reports to users of pods and of the node what happens, by the API and by the log. */
export interface EventRecorder {
  readonly podEvents: PodEvents
  readonly nodeEvents: NodeEvents
  /** An event about any object. */
  record(event: EventInput): void
  /** Sends what is recorded; what waits when the signal aborts is tried for a moment. */
  run(signal: AbortSignal): Promise<void>
}

/** A caller that records never waits: events beyond this are lost. */
const LONGEST_QUEUE = 1000
/** The agent is to be gone within a second of the signal to end. */
const FLUSH_MS = 500

export function createEventRecorder(deps: EventRecorderDeps): EventRecorder {
  const factory = new EventFactory(deps)
  const queue = new EventQueue(deps.log)
  const record = (input: EventInput) => queue.push(factory.create(input))
  const logged = {
    podEvents: createLoggedPodEvents(deps.log),
    nodeEvents: createLoggedNodeEvents(deps.log, deps.nodeName),
  }
  return {
    record,
    podEvents: {
      record(pod, event) {
        logged.podEvents.record(pod, event)
        const { fieldPath, about, ...rest } = event
        const { name, namespace, uid, resourceVersion } = pod.metadata
        const reference = { kind: 'Pod', namespace, name, uid, apiVersion: 'v1' }
        record({
          ...rest,
          involvedObject: about ?? {
            ...reference,
            ...(resourceVersion !== undefined && { resourceVersion }),
            ...(fieldPath !== undefined && { fieldPath }),
          },
        })
      },
    },
    nodeEvents: {
      record(event) {
        logged.nodeEvents.record(event)
        // kubectl searches for the events of a node by this "UID".
        const involvedObject = { kind: 'Node', name: deps.nodeName, uid: deps.nodeName, apiVersion: 'v1' }
        record({ ...event, involvedObject })
      },
    },
    run: async (signal) => await runRecorder({ ...deps, queue, factory }, signal),
  }
}

async function runRecorder(
  deps: EventRecorderDeps & { readonly queue: EventQueue; readonly factory: EventFactory },
  patience: AbortSignal,
): Promise<void> {
  const { queue, clock } = deps
  const correlator = new EventCorrelator(deps)
  const end = new AbortController()
  const endLater = async () => {
    await clock.sleep(FLUSH_MS, end.signal)
    end.abort(new Error('No time is left for events'))
  }
  // Rejects when everything was sent before its time, which is all the better.
  const onAbort = () => void endLater().catch(() => {})
  if (patience.aborted) onAbort()
  else patience.addEventListener('abort', onAbort, { once: true })
  try {
    while (!end.signal.aborted) {
      const event = await queue.take(clock, patience)
      if (event === undefined) return
      const correlation = correlator.correlate(event)
      if (correlation.kind === 'drop') continue
      const isReached = await sendEvent(deps, correlation, { patience, signal: end.signal })
      if (!isReached && patience.aborted) return
    }
  } finally {
    patience.removeEventListener('abort', onAbort)
    end.abort(new Error('Events have ended'))
  }
}

class EventQueue {
  readonly #log: Logger
  readonly #waiting: NamedEvent[] = []
  readonly #wakeup = new Wakeup()
  #lost = 0

  constructor(log: Logger) {
    this.#log = log
  }

  push(event: NamedEvent): void {
    if (this.#waiting.length >= LONGEST_QUEUE) {
      if (this.#lost === 0)
        this.#log.error('too many events wait to be sent, some are lost', { waiting: LONGEST_QUEUE })
      this.#lost += 1
      return
    }
    this.#waiting.push(event)
    this.#wakeup.wake()
  }

  /** The next event, as soon as there is one; undefined when there is none and no caller waits for one any longer. */
  async take(clock: Clock, patience: AbortSignal): Promise<NamedEvent | undefined> {
    while (this.#waiting.length === 0 && !patience.aborted) {
      if (this.#lost > 0) this.#log.warn('events were lost', { lost: this.#lost })
      this.#lost = 0
      await this.#wakeup.wait({ clock, ms: undefined }, patience).catch(() => {})
    }
    return this.#waiting.shift()
  }
}
