import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { ProbeDeps } from '../../probes/probe-deps.ts'
import { PodProbes } from '../../probes/pod-probes.ts'
import type { PodHistory } from '../pod-history.ts'
import { ProbeAnswers } from './probe-answers.ts'
import type { ProbeReport } from './probe-answers.ts'
import type { Timeline } from '../explain/timeline.ts'
import type { UpdateStatusDeps } from '../report/update-pod-status.ts'
import { updatePodStatus } from '../report/update-pod-status.ts'

export type PodProbingDeps = UpdateStatusDeps & {
  readonly probes: ProbeDeps
  readonly observer: { get(uid: PodUid): ObservedPod | undefined }
}

/** The pod that is probed. */
export interface ProbedPod {
  readonly uid: PodUid
  readonly history: PodHistory
  readonly runtimeName: string
  readonly timeline: Timeline
  /** Something that is reported about the pod, or has to be done about it, changed. */
  readonly onChange: () => Promise<void>
}

/** The probes of one pod, and the status that says what they found. */
export class PodProbing implements AsyncDisposable {
  readonly probes: PodProbes
  readonly #deps: PodProbingDeps
  readonly #probed: ProbedPod
  readonly #answers: ProbeAnswers

  constructor(deps: PodProbingDeps, probed: ProbedPod) {
    const { history, uid, timeline, onChange } = probed
    this.#deps = deps
    this.#probed = probed
    this.#answers = new ProbeAnswers(deps.clock, timeline)
    this.probes = new PodProbes(deps.probes, {
      observed: () => deps.observer.get(uid),
      podIp: () => history.status?.podIP ?? '',
      onAnswer: (answer) => this.#answers.note(answer),
      onChange,
    })
  }

  /** The probes that fail now, in words. */
  get failures(): readonly string[] {
    return this.#answers.failures(this.#deps.observer.get(this.#probed.uid))
  }

  /** What each probe answered last. */
  get reports(): readonly ProbeReport[] {
    return this.#answers.reports(this.#deps.observer.get(this.#probed.uid))
  }

  /** Computes the status again. */
  async updateStatus(pod: Pod, observed: ObservedPod, ended: boolean): Promise<void> {
    const { history, runtimeName } = this.#probed
    const context = { deps: this.#deps, history, runtimeName, probes: this.probes }
    await updatePodStatus(context, { pod, observed, ended })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.probes.end()
  }
}
