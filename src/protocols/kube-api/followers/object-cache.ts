import type { KubeObject, ObjectEvent } from '../list-watch/kube-object.ts'

/** The objects of a collection as they were reported last; empty until the first list. */
export class ObjectCache<T extends KubeObject> {
  #objects = new Map<string, T>()
  #hasSynced = false

  /** Whether everything there is was reported at least once. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(toKey(namespace, name))
  }

  values(): readonly T[] {
    return [...this.#objects.values()]
  }

  replace(items: readonly T[]): void {
    this.#objects = new Map(items.map((item) => [keyOf(item), item]))
    this.#hasSynced = true
  }

  apply({ type, object }: ObjectEvent<T>): void {
    if (type === 'DELETED') this.#objects.delete(keyOf(object))
    else this.#objects.set(keyOf(object), object)
  }
}

function keyOf({ metadata }: KubeObject): string {
  return toKey(metadata?.namespace ?? '', metadata?.name ?? '')
}

function toKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
