import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { UserNamespaceMapping } from '../../model/pod/user-namespace.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { computeFreeIds } from './compute-free-ids.ts'
import type { IdRange } from './compute-id-range.ts'
import { formatUserNamespaceRecord, parseUserNamespaceRecord } from './user-namespace-record.ts'

/** The record of which pod has which ids. */
export interface UserNamespaceRecords {
  readAll(): Promise<readonly { readonly uid: string; readonly text: string }[]>
  write(uid: string, text: string): Promise<void>
  setAside(uid: string): Promise<void>
  remove(uid: string): Promise<void>
}

export interface UserNamespacesDeps {
  readonly records: UserNamespaceRecords
  readonly range: IdRange
  readonly idsPerPod: number
  readonly random: () => number
  readonly log: Logger
}

/** Gives each pod with a user namespace ids of the node that no other pod has, for as long as the pod is here. */
export class UserNamespaces {
  readonly #deps: UserNamespacesDeps
  readonly #held = new Map<string, UserNamespaceMapping>()

  private constructor(deps: UserNamespacesDeps) {
    this.#deps = deps
  }

  /** Finds what earlier agents have given away. */
  static async load(deps: UserNamespacesDeps): Promise<UserNamespaces> {
    const namespaces = new UserNamespaces(deps)
    for (const { uid, text } of await deps.records.readAll()) await namespaces.#takeRecord(uid, text)
    return namespaces
  }

  /** Learns from the runtime the ids of pods whose record is lost. To be called before any pod acquires ids. */
  async adopt(observed: readonly ObservedPod[]): Promise<void> {
    for (const { uid, sandboxes } of observed) {
      const mapping = sandboxes.find(({ userNamespace }) => userNamespace !== undefined)?.userNamespace
      if (mapping === undefined || this.#held.has(uid)) continue
      this.#held.set(uid, mapping)
      await this.#deps.records.write(uid, formatUserNamespaceRecord(mapping)).catch((error: unknown) => {
        this.#deps.log.error('cannot record which ids a pod has, the runtime knows them', { uid, error })
      })
    }
  }

  /** The pod's ids: those that it has, else free ones, which are its own from now on. */
  async acquire(uid: PodUid): Promise<UserNamespaceMapping> {
    const known = this.#held.get(uid)
    if (known !== undefined) return known
    const { records, range, idsPerPod, random } = this.#deps
    const hostId = computeFreeIds({ range, idsPerPod, held: this.#held.values(), random: random() })
    if (hostId === undefined) {
      throw new Error(
        `Cannot give the pod a user namespace: all ${range.length / idsPerPod} ranges of ids are in use by other pods`,
      )
    }
    const ids = [{ hostId, containerId: 0, length: idsPerPod }]
    const mapping = { uids: ids, gids: ids }
    this.#held.set(uid, mapping)
    try {
      // Before anything runs with them: whatever happens to the agent, no other pod gets these ids.
      await records.write(uid, formatUserNamespaceRecord(mapping))
    } catch (error) {
      this.#held.delete(uid)
      throw error
    }
    return mapping
  }

  /** The pod is gone; others may have its ids. */
  async release(uid: string): Promise<void> {
    await this.#deps.records.remove(uid)
    this.#held.delete(uid)
  }

  async #takeRecord(uid: string, text: string): Promise<void> {
    const { records, log } = this.#deps
    try {
      this.#held.set(uid, parseUserNamespaceRecord(text))
    } catch (error) {
      log.error('cannot read which ids a pod has, setting the record aside', { uid, error })
      await records
        .setAside(uid)
        .catch((failure: unknown) => log.error('cannot set a record of ids aside', { uid, error: failure }))
    }
  }
}
