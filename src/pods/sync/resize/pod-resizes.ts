import type { Rejection } from '../../admission/rejection.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { Int64, PodCondition } from '../../../model/generated/core-v1.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import { featuresToUpdate } from '../../../model/resources/required-features.ts'
import type { PodAllocations } from '../../allocations/pod-allocations.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { computeResizeOrder } from './compute-resize-order.ts'
import { computeResizeRejection } from './compute-resize-rejection.ts'
import type { ResizeRejection, ResizeRules } from './compute-resize-rejection.ts'
import { computeResizeRequests } from './compute-resize-requests.ts'
import type { ResizedAmount } from './compute-resize-requests.ts'
import { resizeMessage } from './resize-message.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { formatExactJson } from '../../../base/document/exact-json.ts'

/** Why the pods that wait are checked again. */
type ResizeTrigger = 'pods_added' | 'pod_updated' | 'pods_removed' | 'pod_terminated' | 'pod_resized' | 'periodic_retry'

/** What is counted of resizes. */
interface ResizeMetrics {
  resizeRequested(request: ResizedAmount): void
  resizeInfeasible(detail: ResizeRejection['detail']): void
  /** One that had to wait was granted. */
  deferredResizeAccepted(trigger: ResizeTrigger): void
}

export interface PodResizesDeps {
  readonly allocations: Pick<PodAllocations, 'allocated' | 'isGranted' | 'grant'>
  readonly rules: ResizeRules
  /** As in the node's status; undefined where the node declares nothing. */
  readonly declaredFeatures: readonly string[] | undefined
  /** The newest desired pod, of one that lives; undefined for one that is not here or ends. */
  readonly find: (uid: PodUid) => Pod | undefined
  /** Why the pod, as it wants to be, has no place beside all others; undefined when it has. */
  readonly admit: (pod: Pod) => Rejection | undefined
  /** Something about this pod changed. */
  readonly wake: (uid: PodUid) => void
  /** A pod has the size that it was granted: there may be more room for others. */
  readonly onResized: () => void
  readonly events: PodEvents
  readonly metrics: ResizeMetrics
  readonly clock: Clock
  readonly log: Logger
}

interface Conditions {
  readonly pending?: PodCondition | undefined
  readonly inProgress?: PodCondition | undefined
}

const PENDING = 'PodResizePending'
const IN_PROGRESS = 'PodResizeInProgress'
const RETRY_MS = 180_000

/**
 * The pods that ask for other resources than they were granted: who waits, who is next, and what is said of it. It only grants; the worker
 * of the pod does what was granted.
 */
export class PodResizes {
  readonly #deps: PodResizesDeps
  readonly #waiting = new Set<PodUid>()
  readonly #conditions = new Map<PodUid, Conditions>()
  #isReady = false

  constructor(deps: PodResizesDeps) {
    this.#deps = deps
  }

  /** What the status of a pod says of its resizes. */
  conditions(uid: PodUid): readonly PodCondition[] {
    const { pending, inProgress } = this.#conditions.get(uid) ?? {}
    return [pending, inProgress].filter((condition) => condition !== undefined)
  }

  counts(): { readonly pending: ReadonlyMap<string, number>; readonly inProgress: number } {
    const all = [...this.#conditions.values()]
    const pending = new Map<string, number>()
    for (const reason of all.flatMap((each) => each.pending?.reason?.toLowerCase() ?? [])) {
      pending.set(reason, (pending.get(reason) ?? 0) + 1)
    }
    return { pending, inProgress: all.filter(({ inProgress }) => inProgress !== undefined).length }
  }

  /** Pods were added, or are here again under a new agent, which knows of their resizes what the API has. */
  added(pods: readonly Pod[]): void {
    const waiting = pods.filter((pod) => !this.#deps.allocations.isGranted(pod))
    for (const pod of pods) this.#restore(pod)
    for (const { metadata } of waiting) this.#waiting.add(metadata.uid)
    if (waiting.length > 0) this.retry('pods_added')
  }

  /** A pod that is here has a new spec. */
  updated(before: Pod, after: Pod): void {
    const { allocations, metrics, rules } = this.#deps
    const { uid } = after.metadata
    const { requests, resizes } = computeResizeRequests(before, after, rules.scope)
    for (const request of requests) metrics.resizeRequested(request)
    this.#checkFeatures(before, after)
    if (!resizes) return
    if (allocations.isGranted(after)) {
      this.#waiting.delete(uid)
      this.#set(uid, { pending: undefined })
      return
    }
    this.#waiting.add(uid)
    this.retry('pod_updated')
  }

  /** The API server rejects such a change; one that came through all the same is said on the pod. */
  #checkFeatures(before: Pod, after: Pod): void {
    const { declaredFeatures, events } = this.#deps
    if (declaredFeatures === undefined) return
    const missing = featuresToUpdate(before, after).filter((name) => !declaredFeatures.includes(name))
    if (missing.length === 0) return
    const message = `Pod requires node features that are not available: ${missing.join(', ')}`
    events.record(after, { type: 'Warning', reason: 'FailedNodeDeclaredFeaturesCheck', message })
  }

  /** From now on it is known who else is here, and so how much room there is. */
  sourcesReady(): void {
    this.#isReady = true
    this.retry('pods_added')
  }

  forget(uid: PodUid): void {
    this.#waiting.delete(uid)
    this.#conditions.delete(uid)
  }

  /** Checks all that wait: there may be room now. */
  retry(trigger: ResizeTrigger): void {
    if (!this.#isReady || this.#waiting.size === 0) return
    const { find, allocations } = this.#deps
    const pending = [...this.#waiting].flatMap((uid) => {
      const pod = find(uid)
      if (pod === undefined) this.#waiting.delete(uid)
      const since = this.#conditions.get(uid)?.pending?.lastTransitionTime
      return pod === undefined ? [] : [{ pod, allocated: allocations.allocated(pod), since }]
    })
    for (const { pod } of computeResizeOrder(pending)) this.#decide(pod, trigger)
  }

  /** Takes what was observed: whether something of the pod still has another size than it was granted. */
  observed(pod: Pod, isResizing: boolean): void {
    const { uid, generation } = pod.metadata
    const { inProgress } = this.#conditions.get(uid) ?? {}
    if (isResizing && inProgress === undefined) this.#note(uid, { inProgress: this.#begin(generation) })
    if (isResizing || inProgress === undefined) return
    // It was granted something else since the observation began: its worker is woken, and observes again.
    if (!this.#deps.allocations.isGranted(pod)) return
    this.#note(uid, { inProgress: undefined })
    const message = resizeMessage('completed', { pod, generation: inProgress.observedGeneration })
    this.#deps.events.record(pod, { type: 'Normal', reason: 'ResizeCompleted', message })
    this.retry('pod_resized')
    this.#deps.onResized()
  }

  /** What was granted could not be done; it is tried again. */
  failed(pod: Pod, message: string): void {
    const { uid } = pod.metadata
    const before = this.#conditions.get(uid)?.inProgress
    const generation = before?.observedGeneration ?? pod.metadata.generation
    if (before?.reason === 'Error' && before.message === message) return
    this.#note(uid, {
      inProgress: this.#toCondition(before, { type: IN_PROGRESS, reason: 'Error', message, generation }),
    })
    const text = resizeMessage('error', { pod, generation, error: message })
    this.#deps.events.record(pod, { type: 'Warning', reason: 'ResizeError', message: text })
  }

  /** Checks now and then, for changes of which there is no notice. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#deps.clock.sleep(RETRY_MS, signal)
      this.retry('periodic_retry')
    }
  }

  #decide(pod: Pod, trigger: ResizeTrigger): void {
    const { allocations, rules, metrics, admit } = this.#deps
    const { uid } = pod.metadata
    if (allocations.isGranted(pod)) {
      this.#waiting.delete(uid)
      this.#set(uid, { pending: undefined })
      return
    }
    const infeasible = computeResizeRejection({ pod, allocated: allocations.allocated(pod) }, rules)
    if (infeasible !== undefined) {
      this.#waiting.delete(uid)
      metrics.resizeInfeasible(infeasible.detail)
      return this.#reportPending(pod, { reason: 'Infeasible', message: infeasible.message })
    }
    const rejection = admit(pod)
    if (rejection !== undefined) return this.#reportPending(pod, rejection)
    this.#accept(pod, trigger)
  }

  #accept(pod: Pod, trigger: ResizeTrigger): void {
    const { allocations, events, metrics, wake, log } = this.#deps
    const { uid, generation } = pod.metadata
    if (this.#conditions.get(uid)?.pending?.reason === 'Deferred') metrics.deferredResizeAccepted(trigger)
    this.#waiting.delete(uid)
    allocations.grant(pod)
    this.#set(uid, { pending: undefined, inProgress: this.#begin(generation) })
    log.info('resize of a pod granted', { pod: podLogName(pod), uid, trigger })
    events.record(pod, {
      type: 'Normal',
      reason: 'ResizeStarted',
      message: resizeMessage('started', { pod, generation }),
    })
    wake(uid)
  }

  /** What is not impossible is only deferred. Reported once for each desired size, however often it is checked. */
  #reportPending(pod: Pod, { reason: cause, message }: Rejection): void {
    const { uid, generation } = pod.metadata
    const reason = cause === 'Infeasible' ? 'Infeasible' : 'Deferred'
    const before = this.#conditions.get(uid)?.pending
    this.#set(uid, { pending: this.#toCondition(before, { type: PENDING, reason, message, generation }) })
    if (before?.reason === reason && before.observedGeneration === generation) return
    const text = resizeMessage(cause, { pod, generation, error: message })
    this.#deps.events.record(pod, { type: 'Warning', reason: `Resize${reason}`, message: text })
  }

  #restore(pod: Pod): void {
    const { uid, generation } = pod.metadata
    // One that is rejected or only ends is of no concern here.
    if (this.#conditions.has(uid) || this.#deps.find(uid) === undefined) return
    const reported = (type: string) => pod.status?.conditions?.find((condition) => condition.type === type)
    const [pending, begun] = [reported(PENDING), reported(IN_PROGRESS)]
    // The last agent reported it, and was killed before its record was on disk: nothing of it was done yet.
    const isLost = begun?.observedGeneration === generation && !this.#deps.allocations.isGranted(pod)
    const inProgress = isLost ? undefined : begun
    if (pending !== undefined || inProgress !== undefined) this.#conditions.set(uid, { pending, inProgress })
  }

  #begin(generation: Int64 | undefined): PodCondition {
    return this.#toCondition(undefined, { type: IN_PROGRESS, reason: undefined, message: undefined, generation })
  }

  #toCondition(
    before: PodCondition | undefined,
    reported: {
      readonly type: string
      readonly reason: string | undefined
      readonly message: string | undefined
      readonly generation: Int64 | undefined
    },
  ): PodCondition {
    const { type, reason, message, generation } = reported
    const now = toApiTime(this.#deps.clock.now())
    const isSame = before?.reason === reason && before?.message === message && before?.observedGeneration === generation
    return {
      type,
      status: 'True',
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastProbeTime: (isSame ? before?.lastProbeTime : undefined) ?? now,
      lastTransitionTime: (before?.reason === reason ? before?.lastTransitionTime : undefined) ?? now,
    }
  }

  /** The worker of the pod has to report what changes. */
  #set(uid: PodUid, conditions: Conditions): void {
    const before = this.#conditions.get(uid) ?? {}
    this.#note(uid, conditions)
    const after = this.#conditions.get(uid) ?? {}
    const isOther = (['pending', 'inProgress'] as const).some((each) => !isEqual(before[each], after[each]))
    if (isOther) this.#deps.wake(uid)
  }

  /** The same for what the worker itself says, and reports next. */
  #note(uid: PodUid, conditions: Conditions): void {
    const after: Conditions = { ...this.#conditions.get(uid), ...conditions }
    if (after.pending === undefined && after.inProgress === undefined) this.#conditions.delete(uid)
    else this.#conditions.set(uid, after)
  }
}

function isEqual(a: PodCondition | undefined, b: PodCondition | undefined): boolean {
  return formatExactJson(a) === formatExactJson(b)
}
