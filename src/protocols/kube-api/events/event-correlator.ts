import { createHash } from 'node:crypto'
import type { Clock } from '../../../base/async/clock.ts'
import { TokenBucket } from '../../../base/async/token-bucket.ts'
import type { EventFactory, NamedEvent } from './event-factory.ts'
import { LruMap } from './lru-map.ts'

/** What becomes of an event: a new object, one more of an object that is there, or nothing. */
export type Correlation =
  | { readonly kind: 'create'; readonly event: NamedEvent }
  | { readonly kind: 'update'; readonly event: NamedEvent }
  | { readonly kind: 'drop' }

/** The messages of one reason for one object, until it was silent for a while. */
interface Similar {
  readonly messages: Set<string>
  readonly lastAt: number
}

type Seen = Pick<NamedEvent, 'metadata' | 'count' | 'firstTimestamp'>

// Parity: client-go tools/record.
const MOST_KEYS = 4096
const MOST_DIFFERENT_MESSAGES = 10
const SIMILAR_MS = 600_000
const BURST = 25
const TOKENS_PER_SECOND = 1 / 300

/** Keeps a pod that always fails from filling the API: equal events are counted, similar ones combined, too many of them dropped. */
export class EventCorrelator {
  readonly #factory: EventFactory
  readonly #clock: Clock
  readonly #similar = new LruMap<Similar>(MOST_KEYS)
  readonly #seen = new LruMap<Seen>(MOST_KEYS)
  readonly #buckets = new LruMap<TokenBucket>(MOST_KEYS)

  constructor(deps: { readonly factory: EventFactory; readonly clock: Clock }) {
    this.#factory = deps.factory
    this.#clock = deps.clock
  }

  correlate(original: NamedEvent): Correlation {
    const { event, key } = this.#aggregate(original)
    const counted = this.#count(event, key)
    // Last, as others do it: what is dropped here still counts.
    if (!this.#bucketOf(event).take()) return { kind: 'drop' }
    return { kind: counted.count > 1 ? 'update' : 'create', event: counted }
  }

  #aggregate(event: NamedEvent): { readonly event: NamedEvent; readonly key: string } {
    const now = this.#clock.monotonic()
    const key = hash([...objectKey(event), event.type, event.reason])
    const known = this.#similar.get(key)
    const messages = known === undefined || now - known.lastAt > SIMILAR_MS ? new Set<string>() : known.messages
    messages.add(hash([event.message]))
    this.#similar.set(key, { messages, lastAt: now })
    if (messages.size < MOST_DIFFERENT_MESSAGES) {
      const { fieldPath = '' } = event.involvedObject
      return { event, key: hash([...objectKey(event), fieldPath, event.type, event.reason, event.message]) }
    }
    const [oldest] = messages
    if (oldest !== undefined) messages.delete(oldest)
    return {
      event: this.#factory.create({
        ...event,
        // One of a node has its host, and comes from the factory's own component.
        ...(event.source.host === undefined && { component: event.source.component }),
        message: `(combined from similar events): ${event.message}`,
      }),
      key,
    }
  }

  #count(event: NamedEvent, key: string): NamedEvent {
    const seen = this.#seen.get(key)
    const { metadata, count, firstTimestamp } = seen === undefined ? event : { ...seen, count: seen.count + 1 }
    this.#seen.set(key, { metadata, count, firstTimestamp })
    return { ...event, metadata, count, firstTimestamp }
  }

  #bucketOf(event: NamedEvent): TokenBucket {
    const key = hash([...objectKey(event), event.type])
    const bucket =
      this.#buckets.get(key) ?? new TokenBucket({ perSecond: TOKENS_PER_SECOND, burst: BURST, clock: this.#clock })
    this.#buckets.set(key, bucket)
    return bucket
  }
}

/** What an event is about and who says it. */
function objectKey({ involvedObject, source }: NamedEvent): readonly string[] {
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '' } = involvedObject
  return [source.component, kind, namespace, name, uid, apiVersion]
}

/** Keys of one size, however long the messages are that they are made of. */
function hash(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64')
}
