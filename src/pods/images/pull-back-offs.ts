import type { PodUid } from '../../model/pod/pod.ts'
import type { StartError } from '../../model/pod/start-error.ts'
import { computePullBackOff, isBackingOff, isForgotten } from './compute-pull-back-off.ts'
import type { PullBackOff } from './compute-pull-back-off.ts'

/** What one back-off is about. */
export interface PullKey {
  readonly uid: PodUid
  readonly image: string
}

/** The failed pulls of every pod, by image; ends for a pod with forget(). */
export class PullBackOffs {
  readonly #pods = new Map<PodUid, Map<string, PullBackOff>>()

  /** How many pods have failed pulls to remember. */
  get size(): number {
    return this.#pods.size
  }

  /** The failure because of which a pull must wait; undefined: it may go. */
  find({ uid, image }: PullKey, now: number): PullBackOff | undefined {
    const entry = this.#pods.get(uid)?.get(image)
    return entry !== undefined && isBackingOff(entry, now) ? entry : undefined
  }

  /** Remembers a failed pull for which the pod waited since then. */
  fail(
    { uid, image }: PullKey,
    failure: { readonly error: StartError; readonly waitedSince: number },
    now: number,
  ): void {
    const entries = this.#pods.getOrInsertComputed(uid, () => new Map<string, PullBackOff>())
    const { reason, message } = failure.error
    const { waitedSince } = failure
    entries.set(image, computePullBackOff(entries.get(image), { reason, message, waitedSince }, now))
    // An image that the pod no longer names would stay as long as the pod.
    for (const [other, entry] of entries) if (isForgotten(entry, now)) entries.delete(other)
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid)
  }
}
