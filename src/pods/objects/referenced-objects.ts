import type { PodUid } from '../../model/pod/pod.ts'
import { ObjectError } from './object-api.ts'
import type { NamespacedName } from './object-api.ts'

interface Entry<E> {
  readonly value: E
  readonly pods: Set<PodUid>
}

interface Life<E> {
  create(key: NamespacedName, pods: ReadonlySet<PodUid>): E
  /** One more pod refers to it. */
  onPod(value: E): void
  /** The last pod that referred to it is gone. */
  onUnused(value: E): void
}

/** Something for each object that pods refer to, from the first pod that does until the last: counted by pod, not by call. */
export class ReferencedObjects<E> {
  readonly #life: Life<E>
  readonly #entries = new Map<string, Entry<E>>()
  readonly #byPod = new Map<PodUid, ReadonlyMap<string, NamespacedName>>()

  constructor(life: Life<E>) {
    this.#life = life
  }

  get size(): number {
    return this.#entries.size
  }

  register(uid: PodUid, keys: readonly NamespacedName[]): void {
    const before = this.#byPod.get(uid)
    const now = new Map(keys.map((key) => [textOf(key), key]))
    if (now.size === 0) this.#byPod.delete(uid)
    else this.#byPod.set(uid, now)
    for (const [text, key] of now) if (before?.has(text) !== true) this.#add(uid, text, key)
    for (const text of before?.keys() ?? []) if (!now.has(text)) this.#remove(uid, text)
  }

  /** Fails for an object that no pod refers to: nothing would end what is begun for it. */
  get(key: NamespacedName): E {
    const entry = this.#entries.get(textOf(key))
    if (entry === undefined) throw new ObjectError('Other', `object ${textOf(key)} not registered`)
    return entry.value
  }

  #add(uid: PodUid, text: string, key: NamespacedName): void {
    const entry = this.#entries.getOrInsertComputed(text, () => {
      const pods = new Set<PodUid>()
      return { value: this.#life.create(key, pods), pods }
    })
    entry.pods.add(uid)
    this.#life.onPod(entry.value)
  }

  #remove(uid: PodUid, text: string): void {
    const entry = this.#entries.get(text)
    entry?.pods.delete(uid)
    if (entry?.pods.size !== 0) return
    this.#entries.delete(text)
    this.#life.onUnused(entry.value)
  }
}

/** As messages that users know name an object. */
function textOf({ namespace, name }: NamespacedName): string {
  return `"${namespace}"/"${name}"`
}
