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
  /** What this agent and this runtime can do now; a pod that needs more is rejected. */
  readonly capabilities: () => ReadonlySet<PodCapability>
  /** Why a pod may not run on this node; undefined when it may. */
  readonly admit: (pod: Pod) => Rejection | undefined
  /** The pod runs already and needs no admission: it keeps what it has. */
  readonly adopt: (pod: Pod) => void
  readonly observedPods: { get(uid: PodUid): ObservedPod | undefined }
}

/** A pod that does not run here, with the status that says why. */
export interface RejectedPod {
  readonly pod: Pod
  readonly status: PodStatus
}

/** Which pods may run here, and those that may not: they have no worker, and are shown as failed while they are desired. */
export class RejectedPods {
  readonly #deps: RejectedPodsDeps
  readonly #rejected: Map<PodUid, RejectedPod>

  /** The map is that of the registry, for every part to see. */
  constructor(deps: RejectedPodsDeps, rejected: Map<PodUid, RejectedPod>) {
    this.#deps = deps
    this.#rejected = rejected
  }

  get(uid: PodUid): RejectedPod | undefined {
    return this.#rejected.get(uid)
  }

  all(): readonly RejectedPod[] {
    return [...this.#rejected.values()]
  }

  /** True when there was such a pod. */
  forget(uid: PodUid): boolean {
    return this.#rejected.delete(uid)
  }

  /** The newest desired pod; what is against it stays. */
  update(pod: Pod): void {
    const rejected = this.#rejected.get(pod.metadata.uid)
    if (rejected !== undefined) this.#rejected.set(pod.metadata.uid, { ...rejected, pod })
  }

  /**
   * True when the pod is rejected. No field is ignored in silence: one that cannot be honoured is an event, and where that would be harmful a
   * rejection. One that was rejected before and may run now is forgotten here; while the same is against it, nothing is reported again.
   */
  reject(pod: Pod): boolean {
    const { uid } = pod.metadata
    // What was admitted once and runs is not rejected by what may change since: a restart of the agent harms no pod.
    const runs = (this.#deps.observedPods.get(uid)?.containers.length ?? 0) > 0
    const before = this.#rejected.get(uid)
    const unsupported = this.#findUnsupported(pod, { runs, isReported: before !== undefined })
    const rejection = unsupported ?? (runs ? undefined : this.#deps.admit(pod))
    if (rejection === undefined) {
      this.#rejected.delete(uid)
      if (runs) this.#deps.adopt(pod)
      return false
    }
    const status = this.#toStatus(pod, rejection)
    if (before !== undefined && isSameVerdict(before.status, status)) return true
    this.#deps.podDeps.metrics.podRejected(rejection.reason)
    if (unsupported === undefined) this.#deps.podDeps.events.record(pod, { type: 'Warning', ...rejection })
    this.#rejected.set(uid, { pod, status })
    return true
  }

  /** Revokes the admission of a pod that could not have what it was promised; its worker has reported that. */
  revoke(pod: Pod, status: PodStatus): void {
    this.#rejected.set(pod.metadata.uid, { pod, status })
  }

  /** Rejects a pod that cannot be read; its source has recorded the event. */
  rejectUnreadable(pod: Pod, message: string): void {
    const { uid } = pod.metadata
    const before = this.#rejected.get(uid)
    const status = this.#toStatus(pod, { reason: 'FailedValidation', message })
    const isKnown = before !== undefined && isSameVerdict(before.status, status)
    if (!isKnown) this.#deps.podDeps.metrics.podRejected('FailedValidation')
    this.#rejected.set(uid, { pod, status: isKnown ? before.status : status })
  }

  #findUnsupported(
    pod: Pod,
    { runs, isReported }: { readonly runs: boolean; readonly isReported: boolean },
  ): Rejection | undefined {
    const capabilities = new Set([...this.#deps.capabilities(), ...(runs ? RUNTIME_CAPABILITIES : [])])
    const fields = unsupportedFields(pod, capabilities)
    for (const { path, reason, effect } of isReported ? [] : fields) {
      const verb = effect === 'reject' ? 'Rejected' : 'Ignored'
      const message = `${verb} ${path}: ${reason}`
      this.#deps.podDeps.events.record(pod, { type: 'Warning', reason: 'UnsupportedField', message })
    }
    const rejections = fields.filter(({ effect }) => effect === 'reject')
    if (rejections.length === 0) return undefined
    return {
      reason: 'UnsupportedField',
      message: rejections.map(({ path, reason }) => `${path}: ${reason}`).join('; '),
    }
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

function isSameVerdict(before: PodStatus, { reason, message }: PodStatus): boolean {
  return before.reason === reason && before.message === message
}
