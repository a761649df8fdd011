import type { Rejection } from '../admission/rejection.ts'
import type { TaskGroup } from '../async/task-group.ts'
import { RUNTIME_CAPABILITIES, unsupportedFields } from '../containers/unsupported-fields.ts'
import type { PodCapability } from '../containers/unsupported-fields.ts'
import { computeQosClass } from '../model/compute-qos-class.ts'
import type { PodStatus } from '../model/generated/core-v1.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import { isStaticPod, podFullName, podLogName } from '../model/pod.ts'
import type { Pod, PodUid } from '../model/pod.ts'
import { toApiTime } from '../status/status-input.ts'
import { computePodGrace } from './compute-grace.ts'
import { Timeline } from './timeline.ts'
import { traceRuntime } from './trace-runtime.ts'
import type { PodRuntime } from './pod-runtime.ts'
import type { PodState } from './pod-state.ts'
import { PodWorker } from './pod-worker.ts'
import type { PodExplanation, PodSubject, PodWorkerDeps } from './pod-worker.ts'
import type { SyncSettings } from './sync-pod.ts'

/** A step from the sources of pods. */
export interface PodUpdate {
  readonly operation: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE'
  readonly pods: readonly Pod[]
}

export interface PodWorkersDeps {
  readonly runtime: PodRuntime
  readonly settings: SyncSettings
  /** What this agent and this runtime can do now; a pod that needs more is refused. */
  readonly capabilities: () => ReadonlySet<PodCapability>
  /** Why a pod may not run on this node; undefined when it may. */
  readonly admit: (pod: Pod) => Rejection | undefined
  /** Everything the runtime has, by pod. */
  readonly observedPods: { uids(): readonly PodUid[]; get(uid: PodUid): ObservedPod | undefined }
  /** The status of a pod may have changed. */
  readonly onStatus: (uid: PodUid) => void
  /** A pod has left the node for good. */
  readonly onGone: (uid: PodUid) => void
}

/** A pod with what is true of it, as readers see it. */
export interface PodView {
  readonly pod: Pod
  readonly status: PodStatus
}

/** The workers of all pods on the node, and the only place where one begins or ends. */
export class PodWorkers {
  readonly #deps: PodWorkersDeps
  readonly #group: TaskGroup
  readonly #workers = new Map<PodUid, PodWorker>()
  /** Pods that came back while their old worker still ends. */
  readonly #returning = new Map<PodUid, Pod>()
  readonly #refused = new Map<PodUid, PodView>()
  #sourcesReady = false

  constructor(deps: PodWorkersDeps, group: TaskGroup) {
    this.#deps = deps
    this.#group = group
  }

  get size(): number {
    return this.#workers.size
  }

  /** Takes a step of the sources. */
  handle({ operation, pods }: PodUpdate): void {
    const inOrder = operation === 'ADD' ? [...pods].sort(byCreation) : pods
    for (const pod of inOrder) {
      if (operation === 'ADD') this.#add(pod)
      else if (operation === 'REMOVE') this.#remove(pod.metadata.uid)
      else this.#update(pod)
    }
  }

  /** From now on a pod that the runtime has and no source knows is an orphan. */
  sourcesReady(): void {
    this.#sourcesReady = true
    for (const uid of this.#deps.observedPods.uids()) this.#adoptOrphan(uid)
  }

  /** What the runtime has of this pod changed. */
  observed(uid: PodUid): void {
    const worker = this.#workers.get(uid)
    if (worker === undefined) this.#adoptOrphan(uid)
    else worker.lookAgain()
  }

  /** Something that all pods depend on changed, such as the runtime or its network. */
  wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake()
  }

  /** True for a pod that is here, wanted or still leaving. */
  knows(uid: PodUid): boolean {
    return this.#workers.has(uid) || this.#refused.has(uid)
  }

  /** The pods that are wanted here. */
  views(): PodView[] {
    const views = [...this.#workers.values()].flatMap(({ pod, wanted, status }) =>
      pod !== undefined && wanted ? [{ pod, status: status ?? pod.status ?? pendingStatus(pod) }] : [],
    )
    return [...views, ...this.#refused.values()]
  }

  /** What each pod is at, and what was done for it; also of pods that are on their way out. */
  explain(): PodExplanation[] {
    const refused = [...this.#refused.values()].map(({ pod, status }): PodExplanation => {
      const { namespace, name, uid } = pod.metadata
      return { namespace, name, uid, state: 'terminated', why: `${status.message} (${status.reason})`, steps: [] }
    })
    return [...[...this.#workers.values()].map((worker) => worker.explain()), ...refused]
  }

  #add(pod: Pod): void {
    const { uid } = pod.metadata
    const leaving = this.#workers.get(uid)
    if (leaving !== undefined) {
      this.#returning.set(uid, pod)
      leaving.hurry()
      return
    }
    if (this.#refuse(pod)) return
    const blocked = isStaticPod(pod) && this.#holdsName(podFullName(pod))
    this.#deps.runtime.log.info('pod added', { pod: podLogName(pod), uid, waitsForName: blocked || undefined })
    this.#start({ kind: 'pod', pod }, blocked ? { kind: 'waiting' } : firstState(pod))
  }

  /** Nothing of a spec is ever ignored in silence: what cannot be honoured is an event, and where that would be harmful a refusal. */
  #refuse(pod: Pod): boolean {
    // What was taken once and runs is never refused by what may change: an agent that starts anew harms nobody.
    const runs = (this.#deps.observedPods.get(pod.metadata.uid)?.containers.length ?? 0) > 0
    const capabilities = new Set([...this.#deps.capabilities(), ...(runs ? RUNTIME_CAPABILITIES : [])])
    const fields = unsupportedFields(pod, capabilities)
    for (const { path, reason, effect } of fields) {
      const verb = effect === 'refuse' ? 'Refused' : 'Ignored'
      this.#deps.runtime.events.record(pod, {
        type: 'Warning',
        reason: 'UnsupportedField',
        message: `${verb} ${path}: ${reason}`,
      })
    }
    const refusals = fields.filter(({ effect }) => effect === 'refuse')
    if (refusals.length > 0) {
      const message = refusals.map(({ path, reason }) => `${path}: ${reason}`).join('; ')
      this.#showRefused(pod, { reason: 'UnsupportedField', message })
      return true
    }
    const rejection = runs ? undefined : this.#deps.admit(pod)
    if (rejection === undefined) return false
    this.#deps.runtime.events.record(pod, { type: 'Warning', ...rejection })
    this.#showRefused(pod, rejection)
    return true
  }

  #showRefused(pod: Pod, { reason, message }: Rejection): void {
    const startTime = toApiTime(this.#deps.runtime.clock.now())
    const status = {
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      qosClass: computeQosClass(pod),
      startTime,
    }
    this.#refused.set(pod.metadata.uid, { pod, status })
    this.#deps.onStatus(pod.metadata.uid)
  }

  #update(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata
    if (this.#returning.has(uid)) this.#returning.set(uid, pod)
    const worker = this.#workers.get(uid)
    if (worker === undefined || !worker.wanted) return
    worker.update(pod)
    if (deletionTimestamp !== undefined) worker.terminate('deleted', undefined)
  }

  #remove(uid: PodUid): void {
    this.#refused.delete(uid)
    this.#returning.delete(uid)
    this.#workers.get(uid)?.remove()
    // What runs of a refused pod has had nobody who looks after it.
    this.#adoptOrphan(uid)
  }

  #adoptOrphan(uid: PodUid): void {
    const observed = this.#deps.observedPods.get(uid)
    if (!this.#sourcesReady || observed === undefined || this.#workers.has(uid) || this.#refused.has(uid)) return
    this.#deps.runtime.log.warn('pod of the runtime is unknown to all sources, removing it', {
      pod: `${observed.namespace}/${observed.name}`,
      uid,
    })
    this.#start({ kind: 'orphan', observed }, { kind: 'terminating', cause: 'orphaned', graceSeconds: undefined })
  }

  #start(subject: PodSubject, state: PodState): void {
    const timeline = new Timeline(this.#deps.runtime.clock)
    const deps: PodWorkerDeps = {
      runtime: traceRuntime(this.#deps.runtime, timeline),
      timeline,
      settings: this.#deps.settings,
      onStatus: ({ uid }) => this.#deps.onStatus(uid),
      onEnded: ({ pod }) => {
        if (pod !== undefined) this.#freeName(podFullName(pod))
      },
    }
    const worker = new PodWorker(deps, subject, state)
    this.#workers.set(worker.uid, worker)
    this.#group.run(`pod ${worker.uid}`, async (signal) => {
      await worker.run(signal)
      this.#forget(worker)
    })
  }

  #forget(worker: PodWorker): void {
    this.#workers.delete(worker.uid)
    this.#deps.onGone(worker.uid)
    if (worker.pod !== undefined) this.#freeName(podFullName(worker.pod))
    const again = this.#returning.get(worker.uid)
    this.#returning.delete(worker.uid)
    if (again !== undefined) this.#add(again)
  }

  #holdsName(name: string): boolean {
    return [...this.#workers.values()].some(
      ({ pod, state }) =>
        pod !== undefined && isStaticPod(pod) && podFullName(pod) === name && state.kind !== 'terminated',
    )
  }

  /** The first that waits for a name gets it. */
  #freeName(name: string): void {
    const mine = [...this.#workers.values()].filter(
      ({ pod }) => pod !== undefined && isStaticPod(pod) && podFullName(pod) === name,
    )
    if (mine.some(({ state }) => state.kind === 'syncing' || state.kind === 'terminating')) return
    mine.find(({ state }) => state.kind === 'waiting')?.release()
  }
}

/** A pod that is being deleted when it is first seen is only ended. */
function firstState(pod: Pod): PodState {
  if (pod.metadata.deletionTimestamp === undefined) return { kind: 'syncing' }
  const graceSeconds = computePodGrace(pod, { recorded: undefined, override: undefined })
  return { kind: 'terminating', cause: 'deleted', graceSeconds }
}

function byCreation(a: Pod, b: Pod): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return first === second ? 0 : first < second ? -1 : 1
}

function pendingStatus(pod: Pod): PodStatus {
  return { phase: 'Pending', qosClass: computeQosClass(pod) }
}
