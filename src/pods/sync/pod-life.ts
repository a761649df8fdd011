import { WatchedValue } from '../../base/async/watched-value.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { emptyObservedPod } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { PodReport } from '../status/pod-report.ts'
import { computePodGrace } from './decide/compute-grace.ts'
import { createPodHistory } from './pod-history.ts'
import type { PodHistory } from './pod-history.ts'
import { computeTermination, hasCleanedUp, hasStopped, isDesired } from './pod-state.ts'
import type { PodState, TerminationRequest } from './pod-state.ts'
import { PodTermination } from './stop/pod-termination.ts'
import type { PodTerminationDeps } from './stop/pod-termination.ts'

/** The pod of a worker; what is left of an unknown pod has no spec, only a name. */
export type PodSubject =
  | {
      readonly kind: 'pod'
      readonly pod: Pod
      /** By container name; of a pod that ended and came back. */
      readonly restartCounts?: ReadonlyMap<string, number> | undefined
    }
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
  readonly termination: PodTermination
  #subject: PodSubject

  constructor(deps: PodTerminationDeps, subject: PodSubject, state: PodState) {
    this.#subject = subject
    this.state = new WatchedValue(state)
    this.history = createPodHistory(this.pod, subject.kind === 'pod' ? subject.restartCounts : undefined)
    this.termination = new PodTermination(deps, this.identity.uid)
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

  /** What the API may know; undefined for a pod that it no longer has. */
  report(): PodReport | undefined {
    const { pod, status } = this
    const state = this.state.value
    if (pod === undefined || !isDesired(state)) return undefined
    return {
      pod,
      status: status ?? pod.status ?? { phase: 'Pending', qosClass: computeQosClass(pod) },
      mayRun: !hasStopped(state),
      isFinished: hasCleanedUp(state),
    }
  }

  /** Takes a request for the end of the pod. What is being stopped already gets no more time than is asked for now. */
  end(request: TerminationRequest): void {
    const { pod } = this
    const state = this.state.value
    const recorded = state.kind === 'terminating' ? state.graceSeconds : undefined
    const override = request.graceSeconds
    const graceSeconds = pod === undefined ? override : computePodGrace(pod, { recorded, override })
    this.state.set(computeTermination(state, { ...request, graceSeconds }))
    this.history.problem = undefined
    if (graceSeconds === undefined) return
    for (const grace of this.history.graces) grace.shorten(graceSeconds)
    this.termination.shorten(graceSeconds)
  }

  /** What the runtime has of the pod, as last observed; an empty one when it has nothing. */
  observed(observer: { get(uid: PodUid): ObservedPod | undefined }): ObservedPod {
    return observer.get(this.identity.uid) ?? emptyObservedPod(this.identity)
  }
}
