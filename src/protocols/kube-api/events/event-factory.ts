import type { Clock } from '../../../base/async/clock.ts'
import type { Event, ObjectReference } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'

/** An event with everything that its key and its place in the API are made of. */
export interface NamedEvent extends Event {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly source: { readonly component: string; readonly host?: string }
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly firstTimestamp: string
  readonly lastTimestamp: string
}

/** What happened, and to what. */
export type EventInput = Pick<NamedEvent, 'involvedObject' | 'type' | 'reason' | 'message'> &
  Pick<NamedEvent['metadata'], 'annotations'> & {
    /** The part of a control plane that it comes from, which is on no node; absent: the agent of this one. */
    readonly component?: string
  }

export interface EventFactoryDeps {
  readonly nodeName: string
  /** The component that events come from, by whose name tools search; "kubelet" when absent. */
  readonly component?: string
  readonly clock: Clock
  readonly newUid: () => string
}

const KUBELET = 'kubelet'
const LONGEST_NAME = 253
const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** Output of programs may be in a message; a thousand of them wait in memory at worst. */
const LONGEST_MESSAGE = 16_384

/** Makes events of this node, each with a name of its own. */
export class EventFactory {
  readonly #deps: EventFactoryDeps
  #lastNanoseconds = 0n

  constructor(deps: EventFactoryDeps) {
    this.#deps = deps
  }

  create({ involvedObject, type, reason, message, annotations, component }: EventInput): NamedEvent {
    const { nodeName, clock } = this.#deps
    const from = component ?? this.#deps.component ?? KUBELET
    // The parts of a control plane are on no node.
    const host = component === undefined ? nodeName : ''
    const time = toApiTime(clock.now())
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: this.#nameFor(involvedObject),
        namespace: involvedObject.namespace ?? 'default',
        ...(annotations !== undefined && { annotations }),
      },
      involvedObject,
      reason,
      message: message.slice(0, LONGEST_MESSAGE),
      source: { component: from, ...(host !== '' && { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type,
      reportingComponent: from,
      reportingInstance: host,
    }
  }

  #nameFor({ name = '' }: ObjectReference): string {
    // Our clock counts milliseconds: two events within one may not share a name.
    const now = BigInt(Math.trunc(this.#deps.clock.now())) * 1_000_000n
    this.#lastNanoseconds = now > this.#lastNanoseconds ? now : this.#lastNanoseconds + 1n
    const full = `${name}.${this.#lastNanoseconds.toString(16)}`
    return full.length <= LONGEST_NAME && DNS_NAME.test(full) ? full : this.#deps.newUid()
  }
}
