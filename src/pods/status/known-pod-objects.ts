import {
  CONFIG_HASH_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  isPodUid,
  isStaticPod,
  podFullName,
} from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'

/**
 * The newest that is known of the objects which the API has of our pods: from the watch, and from answers, which are often ahead of it. A
 * static pod has its mirror there.
 */
export class KnownPodObjects {
  readonly #newest = new Map<PodUid, Pod>()
  readonly #mirrors = new Map<string, PodUid>()
  #seen: ReadonlySet<Pod> = new Set()

  /** Takes the complete set of the watch; returns the pods of ours whose object is another than before. */
  see(objects: readonly Pod[]): readonly PodUid[] {
    const changed = objects.filter((object) => !this.#seen.has(object))
    this.#seen = new Set(objects)
    const present = new Set(objects.map(({ metadata }) => metadata.uid))
    for (const uid of this.#newest.keys()) if (!present.has(uid)) this.#forget(uid)
    for (const object of changed) this.#take(object)
    return changed.map(ownUid)
  }

  /** Takes what the API answered to a request about an object. */
  answer(object: Pod): void {
    if (this.#newest.has(object.metadata.uid)) this.#take(object)
  }

  /** What the API has of one of our pods; undefined when nothing is known of it. */
  of(pod: Pod): Pod | undefined {
    if (!isStaticPod(pod)) return this.#newest.get(pod.metadata.uid)
    const uid = this.#mirrors.get(podFullName(pod))
    const mirror = uid === undefined ? undefined : this.#newest.get(uid)
    return mirrorHash(mirror) === pod.metadata.annotations?.[CONFIG_HASH_ANNOTATION] ? mirror : undefined
  }

  #forget(uid: PodUid): void {
    const object = this.#newest.get(uid)
    this.#newest.delete(uid)
    if (object !== undefined && this.#mirrors.get(podFullName(object)) === uid)
      this.#mirrors.delete(podFullName(object))
  }

  #take(object: Pod): void {
    const { uid } = object.metadata
    const known = this.#newest.get(uid)
    if (known !== undefined && isOlder(object, known)) return
    this.#newest.set(uid, object)
    if (mirrorHash(object) !== undefined) this.#mirrors.set(podFullName(object), uid)
  }
}

/** The UID by which the node knows a pod of the API: that of the static pod when it is a mirror. */
function ownUid(object: Pod): PodUid {
  const hash = mirrorHash(object)
  return hash !== undefined && isPodUid(hash) ? hash : object.metadata.uid
}

export function mirrorHash(object: Pod | undefined): string | undefined {
  return object?.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION]
}

/** Versions of one resource are numbers that only grow. */
function isOlder(object: Pod, known: Pod): boolean {
  const [one, other] = [object, known].map(({ metadata }) => metadata.resourceVersion ?? '')
  return /^\d+$/.test(one ?? '') && /^\d+$/.test(other ?? '') && BigInt(one ?? 0) < BigInt(other ?? 0)
}
