import type { ObservedPod } from '../model/observed-pod.ts'
import type { Pod, PodUid } from '../model/pod.ts'
import { PodProbes } from '../probes/pod-probes.ts'
import type { PodMemory } from './pod-memory.ts'
import type { PodRuntime } from './pod-runtime.ts'
import { updatePodStatus } from './update-pod-status.ts'

export interface PodProbingDeps {
  readonly runtime: PodRuntime
  readonly memory: PodMemory
  readonly runtimeName: string
  readonly uid: PodUid
  /** Something that is told about the pod, or has to be done about it, changed. */
  readonly onChange: () => Promise<void>
}

/** The probes of one pod, and the status that says what they found. */
export class PodProbing implements AsyncDisposable {
  readonly probes: PodProbes
  readonly #deps: PodProbingDeps

  constructor(deps: PodProbingDeps, shutdown: AbortSignal) {
    const { runtime, memory, uid, onChange } = deps
    this.#deps = deps
    this.probes = new PodProbes(
      runtime.probes,
      { look: () => runtime.observer.get(uid), podIp: () => memory.status?.podIP ?? '', onChange },
      shutdown,
    )
  }

  /** Computes the status anew. */
  async tell(pod: Pod, observed: ObservedPod, ended: boolean): Promise<void> {
    await updatePodStatus({ ...this.#deps, probes: this.probes }, { pod, observed, ended })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.probes.end()
  }
}
