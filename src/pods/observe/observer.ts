import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { FreshReads } from '../../base/async/fresh-reads.ts'
import { isTooLarge, podFilter } from '../../protocols/cri/list-by-pod.ts'
import { PodSandboxState } from '../../protocols/cri/generated/runtime-v1.ts'
import type { Container, PodSandbox } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { partIds } from './part-ids.ts'
import { isListedAsKnown, readPod } from './read-pod.ts'
import type { ListedPod, RuntimeView } from './read-pod.ts'
import { POD_UID_LABEL } from './to-observed.ts'

export interface ObserverDeps {
  readonly runtime: RuntimeView
  readonly clock: Clock
  /** False: what the agent did to a pod is seen by the next relist of all, not by one of its own. Parity: the gate PLEGOnDemandRelist. */
  readonly onDemand?: boolean
  /** What the runtime has of this pod is not what it was. */
  readonly onChange: (uid: PodUid, before: ObservedPod | undefined, now: ObservedPod | undefined) => void
  /** The lists left these parts out, although the runtime has them. */
  readonly onOmitted?: (ids: readonly string[]) => void
  /** A list of everything is larger than the runtime can send: the pods were asked for one by one. */
  readonly onTooLarge?: () => void
  /** Called after each refresh of a single pod with how long it took. */
  readonly onRefresh?: (ms: number) => void
}

/** A caller that waits for the next relist. */
interface Waiter {
  readonly uid: PodUid
  readonly resolve: (pod: ObservedPod | undefined) => void
  readonly reject: (error: unknown) => void
}

/** A pod that the runtime has, and of which the lists were too large to be sent. */
interface UnlistedPod {
  readonly uid: PodUid
  readonly isUnlisted: true
}

interface Entry {
  /** Undefined for a pod that is gone: kept only as long as an older read could make it appear again. */
  readonly pod: ObservedPod | undefined
  /** Number of the read that gave it; an older read never replaces a newer one. */
  readonly read: number
}

// Details of so many pods are asked for at once: enough to keep the runtime busy, too few to flood it.
const PARALLEL_PODS = 16
const SLOW_POD_MS = 10_000

/** Knows what really runs. The runtime's lists are the truth; nothing here is ever guessed from an event. */
export class Observer {
  readonly #deps: ObserverDeps
  readonly #entries = new Map<PodUid, Entry>()
  readonly #owners = new Map<string, PodUid>()
  readonly #reads: FreshReads<PodUid, ObservedPod | undefined>
  readonly #signal: AbortSignal
  readonly #readsUnderWay = new Set<number>()
  /** Pods of which more than the state of their parts changed. */
  readonly #outdated = new Set<PodUid>()
  /** Pods that were there at the first relist, and could not be read in it. */
  #unread = new Set<PodUid>()
  #waiters: readonly Waiter[] = []
  #lastRead = 0
  #lastRelistAt: number | undefined

  constructor(deps: ObserverDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
    this.#reads = new FreshReads((uid) => this.#readOne(uid))
  }

  get(uid: PodUid): ObservedPod | undefined {
    return this.#entries.get(uid)?.pod
  }

  uids(): readonly PodUid[] {
    return [...this.#entries].filter(([, { pod }]) => pod !== undefined).map(([uid]) => uid)
  }

  /** What containers were made of, by the names that the runtime gives it. */
  images(): readonly string[] {
    const pods = [...this.#entries.values()].flatMap(({ pod }) => pod ?? [])
    return pods.flatMap(({ containers }) => containers.flatMap(({ image, imageRef }) => [image, imageRef]))
  }

  /** The pod to which a container or sandbox belongs. */
  ownerOf(id: string): PodUid | undefined {
    return this.#owners.get(id)
  }

  /** When the last relist that succeeded began. */
  get lastRelistAt(): number | undefined {
    return this.#lastRelistAt
  }

  /** Asks the runtime about one pod, now or with the next relist. What is returned was read after the call. */
  refresh(uid: PodUid): Promise<ObservedPod | undefined> {
    if (this.#deps.onDemand !== false) return this.refreshNow(uid)
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, { uid, resolve, reject }]
    })
  }

  /** Asks the runtime about one pod, now. */
  refreshNow(uid: PodUid): Promise<ObservedPod | undefined> {
    return this.#reads.read(uid)
  }

  /** Details of this pod changed although no state did: the next refresh reads all of it. */
  outdate(uid: PodUid): void {
    this.#outdated.add(uid)
  }

  /** Relists everything. A pod that cannot be read in time keeps no other from being seen; it is reported at the end. */
  async relist(patienceMs = SLOW_POD_MS): Promise<void> {
    const waiters = this.#waiters
    this.#waiters = []
    const failures = new Map<PodUid, unknown>()
    try {
      await this.#relistAll(failures, patienceMs)
    } catch (error) {
      for (const waiter of waiters) if (failures.size === 0) waiter.reject(error)
      throw error
    } finally {
      for (const { uid, resolve, reject } of waiters) {
        if (failures.has(uid)) reject(failures.get(uid))
        else resolve(this.get(uid))
      }
    }
  }

  #relistAll(failures: Map<PodUid, unknown>, patienceMs: number): Promise<void> {
    return this.#numbered(async (read) => {
      const startedAt = this.#deps.clock.now()
      const listed = await this.#listAll()
      for (const uid of this.uids()) if (!listed.has(uid)) listed.set(uid, nothingOf(uid))
      const waiting = [...listed.values()]
      const work = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const { uid } = next
          await this.#completeInTime(next, { read, patienceMs }).catch((error: unknown) => failures.set(uid, error))
        }
      }
      await Promise.all(Array.from({ length: PARALLEL_PODS }, work))
      this.#signal.throwIfAborted()
      if (this.#lastRelistAt === undefined) this.#unread = new Set(failures.keys())
      this.#lastRelistAt = startedAt
      if (failures.size > 0)
        throw new AggregateError([...failures.values()], `Cannot read ${failures.size} of ${listed.size} pods`)
    })
  }

  /** The pods that the runtime has. Where its lists are too large to be sent, only which pods there are: each is listed by itself then. */
  async #listAll(): Promise<Map<PodUid, ListedPod | UnlistedPod>> {
    const { runtime, onTooLarge } = this.#deps
    const [sandboxes, containers] = await Promise.allSettled([
      runtime.listPodSandbox({}, this.#signal),
      runtime.listContainers({}, this.#signal),
    ])
    if (sandboxes.status === 'fulfilled' && containers.status === 'fulfilled')
      return groupByPod(sandboxes.value.items, containers.value.containers)
    const failed = [sandboxes, containers].flatMap((list) =>
      list.status === 'rejected' ? [list.reason as unknown] : [],
    )
    for (const reason of failed) if (!isTooLarge(reason)) throw reason
    onTooLarge?.()
    const found = sandboxes.status === 'fulfilled' ? sandboxes.value.items : await this.#listSandboxesByState()
    const uids = [...groupByPod(found, []).keys(), ...this.uids()]
    return new Map(uids.map((uid) => [uid, { uid, isUnlisted: true }]))
  }

  async #listSandboxesByState(): Promise<readonly PodSandbox[]> {
    const states = [PodSandboxState.SANDBOX_READY, PodSandboxState.SANDBOX_NOTREADY]
    const lists = await Promise.all(
      states.map((state) => this.#deps.runtime.listPodSandbox({ filter: { state: { state } } }, this.#signal)),
    )
    return lists.flatMap(({ items }) => items)
  }

  async #listOne(uid: PodUid, signal: AbortSignal): Promise<ListedPod> {
    const filter = podFilter(uid)
    const [sandboxes, containers] = await Promise.all([
      this.#deps.runtime.listPodSandbox({ filter }, signal),
      this.#deps.runtime.listContainers({ filter }, signal),
    ])
    return groupByPod(sandboxes.items, containers.containers).get(uid) ?? nothingOf(uid)
  }

  #readOne(uid: PodUid): Promise<ObservedPod | undefined> {
    return this.#numbered(async (read) => {
      const startedAt = this.#deps.clock.monotonic()
      await this.#complete(await this.#listOne(uid, this.#signal), read, this.#signal)
      this.#deps.onRefresh?.(this.#deps.clock.monotonic() - startedAt)
      return this.get(uid)
    })
  }

  /** A pod about which the runtime does not answer must not keep the next relist waiting. */
  async #completeInTime(
    found: ListedPod | UnlistedPod,
    { read, patienceMs }: { readonly read: number; readonly patienceMs: number },
  ): Promise<void> {
    const known = this.get(found.uid)
    // Nearly all of them, nearly always: no deadline for what waits for nothing.
    if (!('isUnlisted' in found) && isListedAsKnown(found, known) && !this.#outdated.has(found.uid)) {
      this.#store(found.uid, known, read)
      return
    }
    const options = { clock: this.#deps.clock, ms: patienceMs, what: `the refresh of pod "${found.uid}"` }
    const complete = async (signal: AbortSignal) => {
      const listed = 'isUnlisted' in found ? await this.#listOne(found.uid, signal) : found
      await this.#complete(listed, read, signal)
    }
    await withDeadline(options, complete, this.#signal)
  }

  async #complete(listed: ListedPod, read: number, signal: AbortSignal): Promise<void> {
    const isOutdated = this.#outdated.delete(listed.uid)
    const known = this.get(listed.uid)
    const isAdopted = this.#lastRelistAt === undefined || this.#unread.has(listed.uid)
    const { clock } = this.#deps
    const before = { known, isOutdated, isAdopted, now: clock.monotonic(), timeOfDay: clock.now() }
    const { pod, omitted } = await readPod(this.#deps.runtime, listed, before, signal).catch((error: unknown) => {
      if (isOutdated) this.#outdated.add(listed.uid)
      throw error
    })
    this.#unread.delete(listed.uid)
    if (omitted.length > 0) this.#deps.onOmitted?.(omitted)
    const isEmpty = pod.sandboxes.length === 0 && pod.containers.length === 0
    this.#store(listed.uid, isEmpty ? undefined : pod, read)
  }

  #store(uid: PodUid, pod: ObservedPod | undefined, read: number): void {
    const before = this.#entries.get(uid)
    if (before !== undefined && before.read > read) return
    const known = before?.pod
    const isSame = known === undefined || pod === undefined ? known === pod : sameParts(known, pod)
    this.#entries.set(uid, { pod: isSame ? known : pod, read })
    if (isSame) return
    if (pod === undefined) this.#outdated.delete(uid)
    for (const id of partIds(known)) this.#owners.delete(id)
    for (const id of partIds(pod)) this.#owners.set(id, uid)
    this.#deps.onChange(uid, known, pod)
  }

  /** Numbers a read by its beginning, and forgets pods that are gone once no read is left that still saw them. */
  async #numbered<T>(work: (read: number) => Promise<T>): Promise<T> {
    this.#lastRead += 1
    const read = this.#lastRead
    this.#readsUnderWay.add(read)
    try {
      return await work(read)
    } finally {
      this.#readsUnderWay.delete(read)
      const oldest = Math.min(...this.#readsUnderWay)
      for (const [uid, entry] of this.#entries)
        if (entry.pod === undefined && entry.read < oldest) this.#entries.delete(uid)
    }
  }
}

/** What the runtime has that carries no pod's UID is not ours. */
function groupByPod(sandboxes: readonly PodSandbox[], containers: readonly Container[]): Map<PodUid, ListedPod> {
  const pods = new Map<PodUid, { uid: PodUid; sandboxes: PodSandbox[]; containers: Container[] }>()
  const podOf = (labels: Readonly<Record<string, string>>) => {
    const uid = labels[POD_UID_LABEL]
    if (uid === undefined || !isPodUid(uid)) return undefined
    const pod = pods.get(uid) ?? { uid, sandboxes: [], containers: [] }
    pods.set(uid, pod)
    return pod
  }
  for (const sandbox of sandboxes) podOf(sandbox.labels)?.sandboxes.push(sandbox)
  for (const container of containers) podOf(container.labels)?.containers.push(container)
  return pods
}

/** A pod that the lists do not have: what was known of it is asked for. */
function nothingOf(uid: PodUid): { uid: PodUid; sandboxes: PodSandbox[]; containers: Container[] } {
  return { uid, sandboxes: [], containers: [] }
}

/** Parts are read again only when their state changed, so comparing identities is enough. */
function sameParts(a: ObservedPod, b: ObservedPod): boolean {
  const same = <T>(left: readonly T[], right: readonly T[]) =>
    left.length === right.length && left.every((part, index) => part === right[index])
  return same(a.sandboxes, b.sandboxes) && same(a.containers, b.containers)
}
