import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { PodProbes } from '../probes/pod-probes.ts'
import type { PodHistory } from './pod-history.ts'
import { ProbeAnswers } from './probe-answers.ts'
import type { PodRuntime } from './pod-runtime.ts'
import type { Timeline } from './explain/timeline.ts'
import { updatePodStatus } from './update-pod-status.ts'

export interface PodProbingDeps {
  readonly runtime: PodRuntime
  readonly history: PodHistory
  readonly runtimeName: string
  readonly uid: PodUid
  readonly timeline: Timeline
  /** Something that is told about the pod, or has to be done about it, changed. */
  readonly onChange: () => Promise<void>
}

/** The probes of one pod, and the status that says what they found. */
export class PodProbing implements AsyncDisposable {
  readonly probes: PodProbes
  readonly #deps: PodProbingDeps
  readonly #answers: ProbeAnswers

  constructor(deps: PodProbingDeps, shutdown: AbortSignal) {
    const { runtime, history, uid, timeline, onChange } = deps
    this.#deps = deps
    this.#answers = new ProbeAnswers(runtime.clock, timeline)
    this.probes = new PodProbes(
      runtime.probes,
      {
        look: () => runtime.observer.get(uid),
        podIp: () => history.status?.podIP ?? '',
        onAnswer: (answer) => this.#answers.note(answer),
        onChange,
      },
      shutdown,
    )
  }

  /** What of the probes fails now, in words. */
  get failures(): readonly string[] {
    const { runtime, uid } = this.#deps
    return this.#answers.failures(runtime.observer.get(uid))
  }

  /** Computes the status anew. */
  async report(pod: Pod, observed: ObservedPod, ended: boolean): Promise<void> {
    await updatePodStatus({ ...this.#deps, probes: this.probes }, { pod, observed, ended })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.probes.end()
  }
}
