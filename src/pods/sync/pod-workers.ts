import { NODE_SHUTDOWN as SHUTDOWN_REJECTION } from '../admission/compute-admission.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { PodLifeMetrics } from '../../metrics/pod-life-metrics.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { hasRunningParts } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isStaticPod, podFullName, podLogName } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import type { PodAllocations } from '../allocations/pod-allocations.ts'
import { isTerminal } from '../status/compute-phase.ts'
import type { PodReport } from '../status/pod-report.ts'
import { computeSurplus } from './decide/compute-surplus.ts'
import { computeFirstState, isTerminalInApi } from './decide/compute-first-state.ts'
import { evictPod } from './stop/evict-pod.ts'
import type { Eviction } from './stop/evict-pod.ts'
import { Timeline } from './explain/timeline.ts'
import { noteSteps } from './explain/note-steps.ts'
import type { PodExplanation } from './explain/explain-pod.ts'
import type { PodSubject } from './pod-life.ts'
import type { PodState } from './pod-state.ts'
import { isNameTaken, releaseName } from './static-pod-names.ts'
import { RejectedPods } from './rejected-pods.ts'
import type { RejectedPodsDeps } from './rejected-pods.ts'
import type { PodResizes } from './resize/pod-resizes.ts'
import { PodWorker } from './pod-worker.ts'
import type { PodDeps } from './pod-worker.ts'
import type { SyncSettings } from './sync-pod.ts'

export interface PodWorkersDeps extends RejectedPodsDeps {
  readonly podDeps: PodDeps & { readonly metrics: Pick<PodLifeMetrics, 'podRestarted' | 'podOrphaned'> }
  readonly settings: SyncSettings
  readonly allocations: Pick<PodAllocations, 'allocated' | 'admit' | 'adopt' | 'forget' | 'forgetUnknown'>
  readonly resizes: Pick<PodResizes, 'added' | 'updated' | 'sourcesReady' | 'forget' | 'retry'>
  /** Everything the runtime has, by pod. */
  readonly observedPods: { uids(): readonly PodUid[]; get(uid: PodUid): ObservedPod | undefined }
  /** The status of a pod may have changed. */
  readonly onStatus: (uid: PodUid) => void
  /** Nothing of a pod runs any more. */
  readonly onEnded: (uid: PodUid) => void
  /** A pod has left the node for good. */
  readonly onGone: (uid: PodUid) => void
  /** Does a source have this pod although it could not be read? What runs of it stays as it is. */
  readonly isUnreadable?: (uid: PodUid) => boolean
}

/** A pod with its status, as readers see it. */
export interface ReportedPod {
  readonly pod: Pod
  readonly status: PodStatus
}

const NODE_SHUTDOWN = {
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
  isForNow: true,
} as const

/** The workers of all pods on the node, and the only place where one starts or ends. */
export class PodWorkers {
  readonly #deps: PodWorkersDeps
  readonly #group: TaskGroup
  readonly #workers = new Map<PodUid, PodWorker>()
  /** Pods that came back while their old worker still ends. */
  readonly #returning = new Map<PodUid, Pod>()
  readonly #rejected: RejectedPods
  #sourcesReady = false

  constructor(deps: PodWorkersDeps, group: TaskGroup) {
    this.#deps = deps
    this.#group = group
    this.#rejected = new RejectedPods(deps)
  }

  get size(): number {
    return this.#workers.size
  }

  /** Takes an update of a source. */
  handle({ operation, pods }: Pick<PodUpdate, 'operation' | 'pods'>): void {
    const inOrder = operation === 'ADD' ? [...pods].sort(byCreation) : pods
    for (const pod of inOrder) {
      if (operation === 'ADD') this.#add(pod)
      else if (operation === 'REMOVE') this.#remove(pod.metadata.uid)
      else this.#update(operation, pod)
    }
    if (operation === 'ADD') this.#deps.resizes.added(pods)
  }

  /** From now on a pod that the runtime has and no source knows is an orphan. */
  sourcesReady(): void {
    this.#sourcesReady = true
    for (const uid of this.#deps.observedPods.uids()) this.#adoptOrphan(uid)
    this.#deps.allocations.forgetUnknown((uid) => this.knows(uid))
    this.#deps.resizes.sourcesReady()
  }

  /** What the runtime has of this pod changed. */
  observed(uid: PodUid): void {
    const worker = this.#workers.get(uid)
    if (worker === undefined) this.#adoptOrphan(uid)
    else worker.refresh()
  }

  /** Something that all pods depend on changed, such as the runtime or its network. */
  wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake()
  }

  /** True for a pod that is here, wanted or still leaving. */
  knows(uid: PodUid): boolean {
    return this.#workers.has(uid) || this.#rejected.get(uid) !== undefined || this.#deps.isUnreadable?.(uid) === true
  }

  /** Something of the pod may still run, or start. */
  mayRun(uid: PodUid): boolean {
    const state = this.#workers.get(uid)?.state.kind ?? 'gone'
    if (state !== 'terminated' && state !== 'gone') return true
    return this.#runs(uid) || this.#returning.has(uid) || this.#deps.isUnreadable?.(uid) === true
  }

  /** The newest desired pod, also of one that is still leaving. */
  podOf(uid: PodUid): Pod | undefined {
    return this.#workers.get(uid)?.pod
  }

  /** What the API may know of a pod; undefined when no source has it any more. */
  view(uid: PodUid): PodReport | undefined {
    const rejected = this.#rejected.get(uid)
    if (rejected === undefined) return this.#workers.get(uid)?.report()
    const mayRun = this.#runs(uid)
    return { ...rejected, mayRun, isFinished: !mayRun }
  }

  /** The static pods that are here; those that are no longer wanted too, until they have ended. */
  staticPods(): readonly { readonly pod: Pod; readonly wanted: boolean }[] {
    const working = [...this.#workers.values()].flatMap(({ pod, wanted, state }) =>
      pod !== undefined && (wanted || state.kind === 'terminating') ? [{ pod, wanted }] : [],
    )
    const rejected = this.#rejected.all().map(({ pod }) => ({ pod, wanted: true }))
    return [...working, ...rejected].filter(({ pod }) => isStaticPod(pod))
  }

  /** Takes a pod away for the sake of the node, and resolves when nothing of it runs any more. */
  async evict(uid: PodUid, eviction: Eviction, signal: AbortSignal): Promise<void> {
    const worker = this.#workers.get(uid)
    if (worker !== undefined) await evictPod(this.#deps.podDeps, { worker, eviction }, signal)
  }

  /** Takes a pod away because the machine shuts down, and resolves when nothing of it runs and none of its volumes is mounted. */
  async shutDown(uid: PodUid, graceSeconds: number | undefined, signal: AbortSignal): Promise<void> {
    const worker = this.#workers.get(uid)
    if (worker === undefined) return
    await evictPod(this.#deps.podDeps, { worker, eviction: { ...NODE_SHUTDOWN, graceSeconds } }, signal)
    await worker.unmounted(signal)
  }

  /** The machine stays: static pods that were ended or rejected for its shutdown run again, because no controller replaces them. */
  runAgain(): void {
    for (const worker of this.#workers.values()) {
      if (worker.pod === undefined || !worker.wanted || !worker.runsAgain) continue
      this.#returning.set(worker.uid, worker.pod)
      worker.remove()
      worker.makeWay()
    }
    for (const { pod, status } of this.#rejected.all()) {
      if (status.reason !== SHUTDOWN_REJECTION.reason || !isStaticPod(pod)) continue
      this.#rejected.forget(pod.metadata.uid)
      this.#add(pod)
      this.#deps.resizes.added([pod])
    }
  }

  /** Removes what is left of a pod that has ended, or of all that have: the node needs the room. Resolves when it is gone. */
  async dropRemains(uid: PodUid | undefined, signal: AbortSignal): Promise<void> {
    const ended = [...this.#workers.values()].filter(
      (worker) => (uid === undefined || worker.uid === uid) && worker.state.kind === 'terminated',
    )
    await Promise.all(ended.map((worker) => worker.dropRemains(signal)))
  }

  /** Lets every pod remove the dead containers that are too many on the node: so many may stay, any number when the limit is below 0. */
  collectDead(limit: number): void {
    const { podDeps, observedPods } = this.#deps
    const pods = [...this.#workers.values()].flatMap(({ uid, state }) => {
      const observed = observedPods.get(uid)
      const hasEnded = state.kind === 'terminated'
      return observed === undefined ? [] : [{ observed, hasEnded }]
    })
    const createdBefore = podDeps.clock.now() - podDeps.node.deadContainerLeastMs
    const surplus = limit < 0 ? new Map() : computeSurplus(pods, { limit, createdBefore })
    for (const worker of this.#workers.values()) worker.dropDead(surplus.get(worker.uid) ?? new Set())
  }

  /** The pods that were admitted and have not ended, with what they were granted. */
  activePods(): readonly Pod[] {
    const { allocations } = this.#deps
    return [...this.#workers.values()].flatMap(({ pod, uid }) =>
      pod === undefined || !this.isActive(uid) ? [] : [allocations.allocated(pod)],
    )
  }

  /** Is this one of them? */
  isActive(uid: PodUid): boolean {
    const { pod, state, status } = this.#workers.get(uid) ?? {}
    return pod !== undefined && state?.kind !== 'terminated' && state?.kind !== 'gone' && !isTerminal(status?.phase)
  }

  /** The newest desired pod, of one that lives. */
  desired(uid: PodUid): Pod | undefined {
    const worker = this.#workers.get(uid)
    return worker?.wanted === true && worker.state.kind === 'syncing' ? worker.pod : undefined
  }

  /** Something about this pod changed that its worker has to see. */
  wake(uid: PodUid): void {
    this.#workers.get(uid)?.wake()
  }

  /** The pods that are wanted here. */
  views(): ReportedPod[] {
    const reports = [...this.#workers.values()].flatMap((worker) => worker.report() ?? [])
    return [...reports.map(({ pod, status }) => ({ pod, status })), ...this.#rejected.all()]
  }

  /** What each pod is at, and what was done for it; also of pods that are on their way out. */
  explain(): PodExplanation[] {
    return [...[...this.#workers.values()].map((worker) => worker.explain()), ...this.#rejected.explain()]
  }

  #add(pod: Pod): void {
    const { uid } = pod.metadata
    const leaving = this.#workers.get(uid)
    if (leaving !== undefined) {
      this.#returning.set(uid, pod)
      leaving.makeWay()
      return
    }
    // What is terminal, or only has to end, needs nothing that the node could lack.
    const isEnding = pod.metadata.deletionTimestamp !== undefined || isTerminalInApi(pod)
    const observed = this.#deps.observedPods.get(uid)
    if (observed !== undefined && observed.containers.length > 0) this.#deps.allocations.adopt(pod, observed)
    if (!isEnding && this.#rejected.reject(pod)) return this.#deps.onStatus(uid)
    if (!isEnding) this.#deps.allocations.admit(pod)
    const blocked = isStaticPod(pod) && isNameTaken(this.#workers.values(), podFullName(pod))
    this.#deps.podDeps.log.info('pod added', { pod: podLogName(pod), uid, waitsForName: blocked || undefined })
    this.#start({ kind: 'pod', pod }, blocked ? { kind: 'waiting' } : this.#firstState(pod))
  }

  #update(operation: PodUpdate['operation'], pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata
    if (this.#returning.has(uid)) this.#returning.set(uid, pod)
    this.#updateRejected(pod)
    const worker = this.#workers.get(uid)
    if (worker === undefined || !worker.wanted) return
    const before = worker.pod
    if (operation === 'RECONCILE') worker.note(pod)
    else worker.update(pod)
    if (deletionTimestamp !== undefined) worker.terminate('deleted', undefined)
    // Another component ended it, such as the controller that cleans up after nodes that were away.
    else if (isTerminalInApi(pod) && worker.state.kind === 'syncing') worker.terminate('finished', undefined)
    if (before !== undefined && operation === 'UPDATE') this.#deps.resizes.updated(before, pod)
  }

  #updateRejected(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata
    if (this.#rejected.get(uid) === undefined) return
    this.#rejected.update(pod)
    if (deletionTimestamp !== undefined && this.#runs(uid)) {
      this.#rejected.forget(uid)
      this.#start({ kind: 'pod', pod }, this.#firstState(pod))
    }
    this.#deps.onStatus(uid)
  }

  #remove(uid: PodUid): void {
    if (this.#rejected.forget(uid)) {
      this.#deps.allocations.forget(uid)
      this.#deps.onStatus(uid)
    }
    this.#returning.delete(uid)
    this.#workers.get(uid)?.remove()
    // What runs of a rejected pod has had no worker so far.
    this.#adoptOrphan(uid)
  }

  #adoptOrphan(uid: PodUid): void {
    const observed = this.#deps.observedPods.get(uid)
    if (!this.#sourcesReady || observed === undefined || this.knows(uid)) return
    this.#deps.podDeps.metrics.podOrphaned()
    this.#deps.podDeps.log.warn('pod of the runtime is unknown to all sources, removing it', {
      pod: `${observed.namespace}/${observed.name}`,
      uid,
    })
    this.#start(
      { kind: 'orphan', observed },
      {
        kind: 'terminating',
        cause: 'orphaned',
        graceSeconds: undefined,
        after: 'remove',
      },
    )
  }

  #start(subject: PodSubject, state: PodState): void {
    const timeline = new Timeline(this.#deps.podDeps.clock)
    const deps = {
      ...noteSteps(this.#deps.podDeps, timeline),
      timeline,
      settings: this.#deps.settings,
      onStatus: ({ uid }: PodWorker) => this.#deps.onStatus(uid),
      onEnded: ({ pod, uid, wanted }: PodWorker) => {
        this.#deps.onEnded(uid)
        if (pod !== undefined) releaseName(this.#workers.values(), podFullName(pod))
        this.#deps.resizes.retry(wanted ? 'pod_terminated' : 'pods_removed')
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
    this.#deps.resizes.forget(worker.uid)
    this.#deps.allocations.forget(worker.uid)
    this.#deps.onGone(worker.uid)
    if (worker.pod !== undefined) releaseName(this.#workers.values(), podFullName(worker.pod))
    const again = this.#returning.get(worker.uid)
    this.#returning.delete(worker.uid)
    if (again === undefined) return
    this.#deps.podDeps.metrics.podRestarted(isStaticPod(again))
    this.#add(again)
    this.#deps.resizes.added([again])
  }

  #firstState(pod: Pod): PodState {
    const wasObserved = this.#deps.observedPods.get(pod.metadata.uid) !== undefined
    return computeFirstState(pod, { wasObserved, now: this.#deps.podDeps.clock.monotonic() })
  }

  #runs(uid: PodUid): boolean {
    const observed = this.#deps.observedPods.get(uid)
    return observed !== undefined && hasRunningParts(observed)
  }
}

function byCreation(a: Pod, b: Pod): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return first === second ? 0 : first < second ? -1 : 1
}
