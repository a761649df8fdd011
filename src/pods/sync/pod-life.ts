import { WatchedValue } from '../../base/async/watched-value.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { emptyObservedPod } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { createPodHistory } from './pod-history.ts'
import type { PodHistory } from './pod-history.ts'
import type { PodState } from './pod-state.ts'

/** The pod of a worker; what is left of an unknown pod has no spec, only a name. */
export type PodSubject =
  | { readonly kind: 'pod'; readonly pod: Pod }
  | { readonly kind: 'orphan'; readonly observed: ObservedPod }

export interface PodIdentity {
  readonly namespace: string
  readonly name: string
  readonly uid: PodUid
}

/** All that the worker of a pod knows: the newest desired pod, how far its life is, and what happened before. */
export class PodLife {
  readonly state: WatchedValue<PodState>
  readonly history: PodHistory
  #subject: PodSubject

  constructor(subject: PodSubject, state: PodState) {
    this.#subject = subject
    this.state = new WatchedValue(state)
    this.history = createPodHistory(this.pod)
  }

  /** Undefined for an orphan. */
  get pod(): Pod | undefined {
    return this.#subject.kind === 'pod' ? this.#subject.pod : undefined
  }

  set pod(pod: Pod) {
    this.#subject = { kind: 'pod', pod }
  }

  get identity(): PodIdentity {
    return this.#subject.kind === 'pod' ? this.#subject.pod.metadata : this.#subject.observed
  }

  /** As log lines name it. */
  get logName(): string {
    const { namespace, name } = this.identity
    return `${namespace}/${name}`
  }

  get status(): PodStatus | undefined {
    return this.history.status
  }

  /** What the runtime has of the pod, as last observed; an empty one when it has nothing. */
  observed(observer: { get(uid: PodUid): ObservedPod | undefined }): ObservedPod {
    return observer.get(this.identity.uid) ?? emptyObservedPod(this.identity)
  }
}
