import type { KubeObject, ObjectEvent } from '../../protocols/kube-api/list-watch/kube-object.ts'
import { controllerOf, isNewer, keyOf, toKey } from './live-object.ts'
import type { Live, WorkKey } from './live-object.ts'

// Far more than can be under way at once.
const MOST_GONE = 4096

type Listener<T> = (after: Live<T> | undefined, before: Live<T> | undefined) => void

/**
 * The objects of a kind as the API has them, as far as we know: what the watch reported, and what our own writes were answered with. So
 * no decision is made without what an earlier one has created or deleted, however late the watch is, and nothing is created twice.
 */
export class LiveObjects<T extends KubeObject> {
  readonly #objects = new Map<WorkKey, Live<T>>()
  /** By namespace and UID of the controller, which is empty for those without one. */
  readonly #byController = new Map<string, Set<WorkKey>>()
  /** UIDs that are gone for sure, the last ones: answers and events about them may still come, in any order. */
  readonly #gone = new Set<string>()
  readonly #listeners: Listener<T>[] = []

  /** Called after each change. */
  onChange(listener: Listener<T>): void {
    this.#listeners.push(listener)
  }

  get(namespace: string, name: string): Live<T> | undefined {
    return this.#objects.get(toKey(namespace, name))
  }

  all(): readonly Live<T>[] {
    return [...this.#objects.values()]
  }

  in(namespace: string): readonly Live<T>[] {
    return this.all().filter(({ metadata }) => metadata.namespace === namespace)
  }

  /** Those of a namespace that an owner controls; without an owner, those that none controls. */
  controlledBy(namespace: string, uid = ''): readonly Live<T>[] {
    return [...(this.#byController.get(toKey(namespace, uid)) ?? [])].flatMap((key) => this.#objects.get(key) ?? [])
  }

  /** Everything there was at a version. */
  replace(items: readonly T[], version: string): void {
    const listed = new Map(items.map((item) => asLive(item)).map((item) => [keyOf(item), item]))
    for (const [key, object] of this.#objects) {
      // What we wrote after the list was made is not in it.
      if (!listed.has(key) && !isNewer(object.metadata.resourceVersion, version)) this.#set(key, undefined)
    }
    for (const item of listed.values()) this.#learn(item)
  }

  apply({ type, object }: ObjectEvent<T>): void {
    const live = asLive(object)
    if (type !== 'DELETED') return this.#learn(live)
    this.#bury(live.metadata.uid)
    const known = this.#objects.get(keyOf(live))
    if (known !== undefined && isNewer(live.metadata.resourceVersion, known.metadata.resourceVersion))
      this.#set(keyOf(live), undefined)
  }

  /** The API answered one of our writes with this. */
  wrote(object: T): Live<T> {
    const live = asLive(object)
    this.#learn(live)
    return live
  }

  /** The API said that this object is gone. */
  lost({ metadata }: Live<T>): void {
    const key = toKey(metadata.namespace, metadata.name)
    this.#bury(metadata.uid)
    if (this.#objects.get(key)?.metadata.uid === metadata.uid) this.#set(key, undefined)
  }

  #bury(uid: string): void {
    this.#gone.add(uid)
    const [oldest] = this.#gone
    if (this.#gone.size > MOST_GONE && oldest !== undefined) this.#gone.delete(oldest)
  }

  #learn(live: Live<T>): void {
    const key = keyOf(live)
    const known = this.#objects.get(key)
    if (this.#gone.has(live.metadata.uid)) return
    if (known !== undefined && !isNewer(live.metadata.resourceVersion, known.metadata.resourceVersion)) return
    this.#set(key, live)
  }

  #set(key: WorkKey, after: Live<T> | undefined): void {
    const before = this.#objects.get(key)
    if (before !== undefined) this.#unindex(key, before)
    if (after === undefined) this.#objects.delete(key)
    else {
      this.#objects.set(key, after)
      const place = indexOf(after)
      const keys = this.#byController.get(place) ?? new Set()
      this.#byController.set(place, keys.add(key))
    }
    for (const listener of this.#listeners) listener(after, before)
  }

  #unindex(key: WorkKey, object: Live<T>): void {
    const place = indexOf(object)
    const keys = this.#byController.get(place)
    keys?.delete(key)
    if (keys?.size === 0) this.#byController.delete(place)
  }
}

function indexOf(object: Live<KubeObject>): string {
  return toKey(object.metadata.namespace, controllerOf(object)?.uid ?? '')
}

/** What the API sends has been stored, and so has an identity. */
function asLive<T extends KubeObject>(object: T): Live<T> {
  const live = object as Live<T>
  return live.metadata.namespace === undefined ? { ...live, metadata: { ...live.metadata, namespace: '' } } : live
}
