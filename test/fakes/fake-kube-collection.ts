import { GarbledAnswerError } from '../../src/protocols/kube-api/garbled-answer-error.ts'
import { KubeApiError, KubeUnreachableError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest, WatchEvent } from '../../src/protocols/kube-api/kube-client.ts'

export interface FakeObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
}

/** What goes wrong with the next request, or with the watch that is open. */
export type Fault = 'break' | 'end' | 'expire' | 'refuse' | 'forbid' | 'garble' | 'swap' | 'repeat'

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: FakeObject
}

/** One collection of an API server in memory, with its history, and a client of it that can be made to fail. */
export class FakeKubeCollection implements KubeClient {
  readonly objects = new Map<string, FakeObject>()
  /** What was asked for: "list 0", "list", "watch 7". */
  readonly requests: string[] = []
  readonly #changes: Change[] = []
  readonly #faults: Fault[] = []
  #version = 10
  #oldest = 0
  #wakeup = Promise.withResolvers<void>()
  /** Small, so that lists have several parts. */
  pageItems = 3
  bookmarks = 0

  put(name: string): void {
    const type = this.objects.has(name) ? 'MODIFIED' : 'ADDED'
    const object = { metadata: { name, resourceVersion: String(++this.#version) } }
    this.objects.set(name, object)
    this.#record({ type, object })
  }

  remove(name: string): void {
    if (!this.objects.delete(name)) return
    this.#record({ type: 'DELETED', object: { metadata: { name, resourceVersion: String(++this.#version) } } })
  }

  /** Something elsewhere changed. */
  grow(): void {
    this.#version += 1
  }

  bookmark(): void {
    this.bookmarks += 1
    this.#ring()
  }

  fail(fault: Fault): void {
    this.#faults.push(fault)
    this.#ring()
  }

  /** From now on only what comes next is known. */
  forgetHistory(): void {
    this.#oldest = this.#version
  }

  heal(): void {
    this.#faults.length = 0
  }

  async send<T>({ query = {} }: KubeRequest, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const { limit, continue: token = '', resourceVersion } = query
    if (token === '') this.requests.push(resourceVersion === undefined ? 'list' : `list ${resourceVersion}`)
    const fault = this.#faults.shift()
    if (fault === 'expire' && token !== '') throw expired()
    if (fault === 'garble') throw new GarbledAnswerError('no list')
    if (fault === 'refuse') throw new KubeApiError('busy', { code: 503, reason: 'ServiceUnavailable' })
    if (fault === 'forbid') throw new KubeApiError('no', { code: 403, reason: 'Forbidden' })
    if (fault === 'break') throw new KubeUnreachableError('cut')
    const [version = String(this.#version), after = ''] = token === '' ? [] : token.split(' ')
    // The parts of a list all show the state of the first.
    const all = this.#stateAt(Number(version)).filter(({ metadata }) => metadata.name > after)
    const items = limit === undefined ? all : all.slice(0, this.pageItems)
    const next = items.length < all.length ? `${version} ${items.at(-1)?.metadata.name}` : ''
    return { metadata: { resourceVersion: version, continue: next }, items } as T
  }

  async *watch({ query = {} }: Pick<KubeRequest, 'query'>, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    signal.throwIfAborted()
    let version = Number(query['resourceVersion'])
    this.requests.push(`watch ${version}`)
    let { bookmarks } = this
    if (version < this.#oldest) throw expired()
    for (;;) {
      const changes = this.#changes.filter(({ object }) => versionOf(object) > version)
      const fault = this.#faults.shift()
      if (fault === 'swap') changes.reverse()
      if (fault === 'repeat') changes.unshift(...this.#changes.slice(-1))
      for (const change of changes) yield change
      version = Math.max(version, ...changes.map(({ object }) => versionOf(object)))
      if (bookmarks < this.bookmarks) {
        bookmarks = this.bookmarks
        version = this.#version
        yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } }
      }
      if (fault === 'end') return
      if (fault === 'break') throw new KubeUnreachableError('cut')
      if (fault === 'garble') throw new GarbledAnswerError('no line')
      if (fault === 'refuse') yield { type: 'ERROR', object: { kind: 'Status', code: 500, message: 'confused' } }
      if (fault === 'expire')
        yield { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'old' } }
      if (this.#faults.length === 0 && !this.#changes.some(({ object }) => versionOf(object) > version))
        await this.#ringing(signal)
    }
  }

  #stateAt(version: number): readonly FakeObject[] {
    const state = new Map<string, FakeObject>()
    for (const { type, object } of this.#changes) {
      if (versionOf(object) > version) break
      if (type === 'DELETED') state.delete(object.metadata.name)
      else state.set(object.metadata.name, object)
    }
    return [...state.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  #record(change: Change): void {
    this.#changes.push(change)
    this.#ring()
  }

  #ring(): void {
    this.#wakeup.resolve()
    this.#wakeup = Promise.withResolvers()
  }

  async #ringing(signal: AbortSignal): Promise<void> {
    const left = Promise.withResolvers<never>()
    const leave = () => left.reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    try {
      await Promise.race([this.#wakeup.promise, left.promise])
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }
}

function versionOf({ metadata }: FakeObject): number {
  return Number(metadata.resourceVersion)
}

function expired(): KubeApiError {
  return new KubeApiError('too old', { code: 410, reason: 'Expired' })
}
