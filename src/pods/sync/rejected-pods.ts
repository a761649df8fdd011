import type { Clock } from '../../base/async/clock.ts'
import type { PodLifeMetrics } from '../../metrics/pod-life-metrics.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { Rejection } from '../admission/rejection.ts'
import { RUNTIME_CAPABILITIES, unsupportedFields } from '../containers/unsupported-fields.ts'
import type { PodCapability } from '../containers/unsupported-fields.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { toApiTime } from '../../model/text/api-time.ts'

export interface RejectedPodsDeps {
  readonly podDeps: {
    readonly events: PodEvents
    readonly metrics: Pick<PodLifeMetrics, 'podRejected'>
    readonly clock: Clock
  }
  /** What this agent and this runtime can do now; a pod that needs more is refused. */
  readonly capabilities: () => ReadonlySet<PodCapability>
  /** Why a pod may not run on this node; undefined when it may. */
  readonly admit: (pod: Pod) => Rejection | undefined
  /** The pod runs already and is not asked about: it takes up what it has. */
  readonly adopt: (pod: Pod) => void
  readonly observedPods: { get(uid: PodUid): ObservedPod | undefined }
}

/** A pod that is not run here, and how that is told. */
export interface RejectedPod {
  readonly pod: Pod
  readonly status: PodStatus
}

/** Which pods may run here, and those that may not: they never get a worker, and are shown as failed while they are wanted. */
export class RejectedPods {
  readonly #deps: RejectedPodsDeps
  readonly #refused = new Map<PodUid, RejectedPod>()

  constructor(deps: RejectedPodsDeps) {
    this.#deps = deps
  }

  get(uid: PodUid): RejectedPod | undefined {
    return this.#refused.get(uid)
  }

  all(): readonly RejectedPod[] {
    return [...this.#refused.values()]
  }

  /** True when there was such a pod. */
  forget(uid: PodUid): boolean {
    return this.#refused.delete(uid)
  }

  /** The newest wish of a pod that stays refused. */
  update(pod: Pod): void {
    const refused = this.#refused.get(pod.metadata.uid)
    if (refused !== undefined) this.#refused.set(pod.metadata.uid, { ...refused, pod })
  }

  /** Nothing of a spec is ever ignored in silence: what cannot be honoured is an event, and where that would be harmful a refusal. */
  refuse(pod: Pod): boolean {
    // What was taken once and runs is never refused by what may change: an agent that starts anew harms nobody.
    const runs = (this.#deps.observedPods.get(pod.metadata.uid)?.containers.length ?? 0) > 0
    const unsupported = this.#findUnsupported(pod, runs)
    const rejection = unsupported ?? (runs ? undefined : this.#deps.admit(pod))
    if (rejection === undefined) {
      if (runs) this.#deps.adopt(pod)
      return false
    }
    this.#deps.podDeps.metrics.podRejected(rejection.reason)
    if (unsupported === undefined) this.#deps.podDeps.events.record(pod, { type: 'Warning', ...rejection })
    this.#refused.set(pod.metadata.uid, { pod, status: this.#toStatus(pod, rejection) })
    return true
  }

  #findUnsupported(pod: Pod, runs: boolean): Rejection | undefined {
    const capabilities = new Set([...this.#deps.capabilities(), ...(runs ? RUNTIME_CAPABILITIES : [])])
    const fields = unsupportedFields(pod, capabilities)
    for (const { path, reason, effect } of fields) {
      const verb = effect === 'refuse' ? 'Refused' : 'Ignored'
      const message = `${verb} ${path}: ${reason}`
      this.#deps.podDeps.events.record(pod, { type: 'Warning', reason: 'UnsupportedField', message })
    }
    const refusals = fields.filter(({ effect }) => effect === 'refuse')
    if (refusals.length === 0) return undefined
    return { reason: 'UnsupportedField', message: refusals.map(({ path, reason }) => `${path}: ${reason}`).join('; ') }
  }

  #toStatus(pod: Pod, { reason, message }: Rejection): PodStatus {
    const { generation } = pod.metadata
    return {
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      qosClass: computeQosClass(pod),
      startTime: toApiTime(this.#deps.podDeps.clock.now()),
    }
  }
}
