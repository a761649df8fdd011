import { isDeepStrictEqual } from 'node:util'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { EventType } from './generated/pods-v1alpha1.ts'
import type { WatchPodsEvent } from './generated/pods-v1alpha1.ts'

/** A pod with what is true of it. */
export interface PodWithStatus {
  readonly pod: Pod
  readonly status: PodStatus
}

export interface PodWatchDeps {
  /** Undefined for a pod that is not here any more. */
  readonly find: (uid: PodUid) => PodWithStatus | undefined
  readonly encode: (pod: object) => Uint8Array
  /** False when the other side has enough for now; then `resume` follows. */
  readonly write: (event: WatchPodsEvent) => boolean
}

/**
 * What one watcher has been sent and has still to be sent. Only the names of changed pods wait, so a watcher that is slow or stands still
 * costs one entry for each pod, and gets the newest when it reads again.
 */
export class PodWatch {
  readonly #deps: PodWatchDeps
  readonly #reported = new Map<PodUid, PodWithStatus>()
  readonly #waiting = new Set<PodUid>()
  #isReady = true
  #isSyncing = true

  constructor(deps: PodWatchDeps) {
    this.#deps = deps
  }

  /** Sends all that are there, and then that this was all. */
  begin(uids: readonly PodUid[]): void {
    for (const uid of uids) this.#waiting.add(uid)
    this.#flush()
  }

  /** Something about this pod may have changed. */
  changed(uid: PodUid): void {
    this.#waiting.add(uid)
    this.#flush()
  }

  /** The other side reads again. */
  resume(): void {
    this.#isReady = true
    this.#flush()
  }

  #flush(): void {
    for (const uid of this.#waiting) {
      if (!this.#isReady) return
      this.#waiting.delete(uid)
      this.#report(uid)
    }
    if (!this.#isSyncing || !this.#isReady) return
    this.#isSyncing = false
    this.#isReady = this.#deps.write({ type: EventType.INITIAL_SYNC_COMPLETE, pod: new Uint8Array() })
  }

  #report(uid: PodUid): void {
    const { find, encode, write } = this.#deps
    const now = find(uid)
    const before = this.#reported.get(uid)
    if (now !== undefined) {
      if (before !== undefined && isSame(before, now)) return
      this.#reported.set(uid, now)
      const type = before === undefined ? EventType.ADDED : EventType.MODIFIED
      this.#isReady = write({ type, pod: encode({ ...now.pod, status: now.status }) })
    } else if (before !== undefined) {
      this.#reported.delete(uid)
      const { name, namespace } = before.pod.metadata
      this.#isReady = write({ type: EventType.DELETED, pod: encode({ metadata: { name, namespace, uid } }) })
    }
  }
}

function isSame(before: PodWithStatus, now: PodWithStatus): boolean {
  return before.pod === now.pod && isDeepStrictEqual(before.status, now.status)
}
