import type { Api } from '../../../src/api-server/rest/create-api.ts'
import { call, watch } from './api-client.ts'

interface Item {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string }
}

/**
 * What a client in Go does: list, watch from there, follow bookmarks, list again when the history is gone. Keeps what it knows in a
 * cache, and checks on the way that versions only grow.
 */
export class Reflector {
  readonly cache = new Map<string, Item>()
  readonly counts = { lists: 0, watches: 0, events: 0, bookmarks: 0, expired: 0 }
  #version = 0
  #isListed = false
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  get version(): number {
    return this.#version
  }

  /** Follows until the signal aborts, in pages of 500 as clients do. */
  async follow(api: Api, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#isListed) await this.#list(api)
      await this.#watch(api, signal)
    }
  }

  async #list(api: Api): Promise<void> {
    this.counts.lists++
    const found = new Map<string, Item>()
    let token = ''
    let version = 0
    do {
      const { status, body } = await call(api, 'GET', `${this.#path}?limit=500&continue=${token}`)
      if (status === 410) {
        // The list took too long: from the beginning.
        found.clear()
        token = ''
        continue
      }
      for (const item of body.items as Item[]) found.set(keyOf(item), item)
      token = body.metadata.continue ?? ''
      version = Number(body.metadata.resourceVersion)
      await new Promise((resolve) => setImmediate(resolve))
    } while (token !== '')
    if (version < this.#version) throw new Error(`The list went back from ${this.#version} to ${version}`)
    this.cache.clear()
    for (const [key, item] of found) this.cache.set(key, item)
    this.#version = version
    this.#isListed = true
  }

  async #watch(api: Api, signal: AbortSignal): Promise<void> {
    this.counts.watches++
    const target = `${this.#path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${this.#version}`
    for await (const { type, object } of watch(api, target, signal)) {
      if (type === 'ERROR') {
        if (object.code !== 410) throw new Error(`Unexpected end: ${JSON.stringify(object)}`)
        this.counts.expired++
        this.#isListed = false
        return
      }
      this.#apply(type, object as Item)
    }
  }

  #apply(type: string, item: Item): void {
    const version = Number(item.metadata.resourceVersion)
    const isBookmark = type === 'BOOKMARK'
    if (version < this.#version || (version === this.#version && !isBookmark)) {
      throw new Error(`A ${type} went back from ${this.#version} to ${version}`)
    }
    this.#version = version
    if (isBookmark) {
      this.counts.bookmarks++
      return
    }
    this.counts.events++
    const key = keyOf(item)
    if (this.cache.has(key) !== (type !== 'ADDED'))
      throw new Error(`${type} of ${key}, which contradicts what was reported before`)
    if (type === 'DELETED') this.cache.delete(key)
    else this.cache.set(key, item)
  }
}

function keyOf({ metadata }: Item): string {
  return `${metadata.namespace}/${metadata.name}`
}
