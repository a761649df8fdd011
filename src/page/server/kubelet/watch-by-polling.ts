import type { Clock } from '../../../base/async/clock.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { KubeApiError } from '../../../protocols/kube-api/kube-client.ts'
import type { WatchEvent } from '../../../protocols/kube-api/kube-client.ts'

/** An object of which only what identifies it is known. */
export interface Polled {
  readonly metadata?: { readonly uid?: string | undefined; readonly name?: string | undefined } | undefined
}

type Objects = ReadonlyMap<string, { readonly text: string; readonly object: Polled }>

/** What a kubelet's pods are like is asked for as often as this: its port has no watch. */
const POLL_MS = 5000
/** Of lists that a watch may begin with. */
const MOST_KEPT = 8

/** Lists and watches over a collection that can only be read whole. Versions are our own, so that each is newer than the one before. */
export class PolledCollection {
  readonly #read: (signal: AbortSignal) => Promise<readonly Polled[]>
  readonly #clock: Clock
  readonly #kept = new Map<string, Objects>()
  #version = 0

  constructor(clock: Clock, read: (signal: AbortSignal) => Promise<readonly Polled[]>) {
    this.#clock = clock
    this.#read = read
  }

  async list(signal: AbortSignal): Promise<object> {
    const items = await this.#read(signal)
    const resourceVersion = this.#nextVersion()
    this.#kept.set(resourceVersion, toObjects(items))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    return { metadata: { resourceVersion }, items }
  }

  /** Every change since a list. Fails when the collection cannot be read: then it has to be listed again. */
  async *watch(from: string, signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    const known = this.#kept.get(from)
    if (known === undefined) throw new KubeApiError('the list is too old', { code: 410, reason: '' })
    for (let before = known; ;) {
      await this.#clock.sleep(POLL_MS, signal)
      const now = toObjects(await this.#readAgain(signal))
      for (const [id, { object }] of before) if (!now.has(id)) yield this.#toEvent('DELETED', object)
      for (const [id, { object, text }] of now) {
        const earlier = before.get(id)
        if (earlier === undefined) yield this.#toEvent('ADDED', object)
        else if (earlier.text !== text) yield this.#toEvent('MODIFIED', object)
      }
      yield this.#toEvent('BOOKMARK', {})
      before = now
    }
  }

  async #readAgain(signal: AbortSignal): Promise<readonly Polled[]> {
    try {
      return await this.#read(signal)
    } catch (error) {
      signal.throwIfAborted()
      throw new KubeApiError(errorMessage(error), { code: 500, reason: '' })
    }
  }

  #toEvent(type: WatchEvent['type'], object: Polled): WatchEvent {
    return { type, object: { ...object, metadata: { ...object.metadata, resourceVersion: this.#nextVersion() } } }
  }

  #nextVersion(): string {
    this.#version += 1
    return String(this.#version)
  }
}

function toObjects(items: readonly Polled[]): Objects {
  return new Map(
    items.map((object) => [
      object.metadata?.uid ?? object.metadata?.name ?? '',
      { text: JSON.stringify(object), object },
    ]),
  )
}
