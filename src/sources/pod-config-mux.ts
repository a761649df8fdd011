import type { Clock } from '../async/clock.ts'
import { podFullName } from '../model/pod.ts'
import type { Pod, PodUid } from '../model/pod.ts'
import { computeSourceDiff } from './compute-source-diff.ts'
import type { KnownPods, PodUpdate } from './compute-source-diff.ts'

/** An event about a pod, for whoever records events. */
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
}

interface SourceState {
  readonly known: KnownPods
  readonly duplicates: ReadonlySet<PodUid>
}

/** Turns the complete sets that sources send into steps, in order: what is gone, new, changed, to be ended. */
export class PodConfigMux {
  readonly #options: PodConfigMuxOptions
  readonly #seen = new Map<string, SourceState>()

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
      if (before?.duplicates.has(pod.metadata.uid) !== true) onEvent(duplicateEvent(pod, source))
    }
    for (const update of diff.updates) deliver(update)
  }

  /** Has every source sent its first set? Before that an absent pod is not a deleted one. */
  allSeen(): boolean {
    return this.#options.sources.every((source) => this.#seen.has(source))
  }
}

function duplicateEvent(pod: Pod, source: string): PodConfigEvent {
  const { name, uid } = pod.metadata
  const message = `Pod ${podFullName(pod)} of source ${source} is left out due to duplicate pod name "${name}" or UID "${uid}"`
  return { type: 'Warning', reason: 'FailedValidation', pod, message }
}
