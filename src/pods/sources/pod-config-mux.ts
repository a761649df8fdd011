import type { Clock } from '../../base/async/clock.ts'
import { ETCD_KEY_ANNOTATION, podFullName, podText } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { computeSourceDiff } from './compute-source-diff.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import type { KnownPods } from './compute-source-diff.ts'

/** An event about a pod, for the recorder of events. */
interface PodConfigEvent {
  readonly type: 'Warning'
  readonly reason: 'FailedValidation'
  readonly pod: Pod
  readonly message: string
}

/** What the mux needs. */
export interface PodConfigMuxOptions {
  /** The sources that exist on this node, such as file, http, api. */
  readonly sources: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  readonly onEvent: (event: PodConfigEvent) => void
  readonly deliver: (update: PodUpdate) => void
  /** Every source has reported once what it has: an absent pod is a deleted pod from now on. */
  readonly onAllSeen?: () => void
}

interface Successor {
  readonly source: string
  readonly pod: Pod
}

interface SourceState {
  readonly known: KnownPods
  readonly duplicates: ReadonlySet<PodUid>
}

/** Turns the complete sets that sources send into steps, in order: what is gone, new, changed, to be ended. */
export class PodConfigMux {
  readonly #options: PodConfigMuxOptions
  readonly #seen = new Map<string, SourceState>()
  /** When several sources have a pod of one UID, the first of them counts until it no longer has it. */
  readonly #owners = new Map<PodUid, string>()
  #isComplete = false

  constructor(options: PodConfigMuxOptions) {
    this.#options = options
  }

  /** Takes the complete set of a source. Whole in one turn, so the steps of two sets never mix. */
  set(source: string, pods: readonly Pod[]): void {
    const { sources, clock, onEvent, deliver } = this.#options
    if (!sources.includes(source)) {
      throw new Error(`Cannot take pods of source "${source}": expected one of ${sources.join(', ')}`)
    }
    const before = this.#seen.get(source)
    const isFirst = before === undefined
    const diff = computeSourceDiff(before?.known ?? new Map(), { source, pods, isFirst, now: clock.now() })
    const duplicates = new Set(diff.duplicates.map((pod) => pod.metadata.uid))
    this.#seen.set(source, { known: diff.known, duplicates })
    for (const pod of diff.duplicates) {
      const isOfName = pods.some((other) => other !== pod && podFullName(other) === podFullName(pod))
      if (before?.duplicates.has(pod.metadata.uid) !== true)
        onEvent(duplicateEvent(pod, source, isOfName ? 'name' : 'UID'))
    }
    for (const update of diff.updates) for (const step of this.#settle(update)) deliver(step)
    this.begin()
  }

  /** For a node without sources, which has seen them all from the start. */
  begin(): void {
    if (this.#isComplete || !this.allSeen()) return
    this.#isComplete = true
    this.#options.onAllSeen?.()
  }

  /** The part of a step that is left when other sources have pods of the same UID. */
  #settle(update: PodUpdate): readonly PodUpdate[] {
    const { operation, source, pods } = update
    const own = pods.filter((pod) => this.#counts(operation, source, pod))
    if (operation !== 'REMOVE') return own.length === 0 && operation !== 'ADD' ? [] : [{ ...update, pods: own }]
    const successors = new Map(own.map((pod) => [pod, this.#handOver(source, pod)]))
    const gone = own.filter((pod) => !isSamePod(pod, successors.get(pod)?.pod))
    return [
      ...(gone.length === 0 ? [] : [{ ...update, pods: gone }]),
      ...successors.entries().flatMap(([pod, successor]) => (successor === undefined ? [] : [inherit(pod, successor)])),
    ]
  }

  #counts(operation: PodUpdate['operation'], source: string, pod: Pod): boolean {
    const { uid } = pod.metadata
    const owner = this.#owners.get(uid)
    if (operation === 'ADD' && owner === undefined) this.#owners.set(uid, source)
    if (operation === 'ADD' && owner !== undefined) this.#options.onEvent(duplicateEvent(pod, source, 'UID'))
    return operation === 'ADD' ? owner === undefined : owner === source
  }

  /** The pod of another source that takes over the UID, if there is one. */
  #handOver(source: string, { metadata: { uid } }: Pod): Successor | undefined {
    this.#owners.delete(uid)
    for (const [other, { known }] of this.#seen) {
      const pod = other === source ? undefined : known.get(uid)?.pod
      if (pod === undefined) continue
      this.#owners.set(uid, other)
      return { source: other, pod }
    }
    return undefined
  }

  /** True once every source has sent its first set. Before that an absent pod is not a deleted one. */
  allSeen(): boolean {
    return this.#options.sources.every((source) => this.#seen.has(source))
  }
}

/** The pod that takes over a UID: the same pod goes on running; another one starts after the pod before it has ended. */
function inherit(before: Pod, { source, pod }: Successor): PodUpdate {
  const changed = pod.metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE'
  return { operation: isSamePod(before, pod) ? changed : 'ADD', source, pods: [pod] }
}

function isSamePod(pod: Pod, other: Pod | undefined): boolean {
  return other !== undefined && podFullName(pod) === podFullName(other)
}

function duplicateEvent(pod: Pod, source: string, what: 'name' | 'UID'): PodConfigEvent {
  const { name, uid } = pod.metadata
  const why =
    what === 'name' ? `due to duplicate pod name "${name}", ignoring` : `due to duplicate pod UID "${uid}", ignoring`
  const key = source === 'etcd' ? pod.metadata.annotations?.[ETCD_KEY_ANNOTATION] : undefined
  const from = key === undefined ? source : `etcd (key ${key})`
  const message = `Error validating pod ${podText(pod)} from ${from} ${why}`
  return { type: 'Warning', reason: 'FailedValidation', pod, message }
}
