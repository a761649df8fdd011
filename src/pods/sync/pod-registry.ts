import type { Clock } from '../../base/async/clock.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { hasRunningParts } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isStaticPod, podFullName } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodAllocations } from '../allocations/pod-allocations.ts'
import { isTerminalPhase } from '../status/compute-phase.ts'
import type { PodReport } from '../status/pod-report.ts'
import type { PodExplanation } from './explain/explain-pod.ts'
import type { PodWorker } from './pod-worker.ts'
import type { RejectedPod } from './rejected-pods.ts'
import { evictPod } from './stop/evict-pod.ts'
import type { Eviction } from './stop/evict-pod.ts'

export interface PodRegistryDeps {
  readonly allocations: Pick<PodAllocations, 'allocated'>
  /** What the runtime has of each pod. */
  readonly observedPods: {
    /** Undefined before the first relist. */
    readonly lastRelistAt: number | undefined
    uids(): readonly PodUid[]
    get(uid: PodUid): ObservedPod | undefined
  }
  readonly events: PodEvents
  readonly clock: Clock
}

/** A pod with its status, as readers see it. */
export interface ReportedPod {
  readonly pod: Pod
  readonly status: PodStatus
}

/** What the registry knows, as its one writer changes it. */
export interface RegistryEntries {
  readonly workers: Map<PodUid, PodWorker>
  /** Pods that may not run here: they have no worker. */
  readonly rejected: Map<PodUid, RejectedPod>
  /** Pods that came back while their old worker still ends. */
  readonly returning: Map<PodUid, Pod>
  /** Pods that a source has although they cannot be read, and of which something runs: it stays as it is. */
  readonly leftAlone: Map<PodUid, Pod>
  /** Every source has been seen: a pod that is not here is not desired. */
  isComplete: boolean
}

/**
 * The pods of this node. It is there from the start, so that every part can ask for them; PodWorkers alone adds and removes. Before there
 * are workers it knows no pod.
 */
export class PodRegistry {
  readonly #deps: PodRegistryDeps
  readonly #entries: RegistryEntries = {
    workers: new Map(),
    rejected: new Map(),
    returning: new Map(),
    leftAlone: new Map(),
    isComplete: false,
  }
  #hasWriter = false

  constructor(deps: PodRegistryDeps) {
    this.#deps = deps
  }

  /** Hands the entries to PodWorkers. Throws a second time. */
  takeEntries(): RegistryEntries {
    if (this.#hasWriter) throw new Error('The pod registry has a writer already')
    this.#hasWriter = true
    return this.#entries
  }

  /** Every source has been seen: a pod that is not here is not desired. */
  get isComplete(): boolean {
    return this.#entries.isComplete
  }

  /** Has a static pod of this name not ended yet? */
  isNameTaken(name: string): boolean {
    return this.#staticWorkers(name).some(({ state }) => state.kind !== 'terminated')
  }

  /** The first that waits for the name, once it is free. */
  nextForName(name: string): PodWorker | undefined {
    const sharing = this.#staticWorkers(name)
    if (sharing.some(({ state }) => state.kind === 'syncing' || state.kind === 'terminating')) return undefined
    return sharing.find(({ state }) => state.kind === 'waiting')
  }

  /** True for a pod that is here, desired or still leaving. */
  knows(uid: PodUid): boolean {
    return this.#entries.workers.has(uid) || this.#entries.rejected.has(uid) || this.#entries.leftAlone.has(uid)
  }

  /** Something of the pod runs. */
  runs(uid: PodUid): boolean {
    const observed = this.#deps.observedPods.get(uid)
    return observed !== undefined && hasRunningParts(observed)
  }

  /** Something of the pod may still run, or start. */
  mayRun(uid: PodUid): boolean {
    const state = this.#entries.workers.get(uid)?.state.kind ?? 'gone'
    if (state !== 'terminated' && state !== 'gone') return true
    return this.runs(uid) || this.#entries.returning.has(uid) || this.#entries.leftAlone.has(uid)
  }

  /** The newest spec of a pod that is here, also when it is not desired any more. */
  podOf(uid: PodUid): Pod | undefined {
    return this.#entries.workers.get(uid)?.pod
  }

  /** What the API may know of a pod; undefined when no source has it any more. */
  view(uid: PodUid): PodReport | undefined {
    const rejected = this.#entries.rejected.get(uid)
    if (rejected === undefined) return this.#entries.workers.get(uid)?.report()
    const mayRun = this.runs(uid)
    return { ...rejected, mayRun, isFinished: !mayRun }
  }

  /** The pods that are desired here. */
  views(): ReportedPod[] {
    const reports = [...this.#entries.workers.values()].flatMap((worker) => worker.report() ?? [])
    return [...reports.map(({ pod, status }) => ({ pod, status })), ...this.#entries.rejected.values()]
  }

  /** The static pods that are here; those that are no longer desired too, until they have ended. */
  staticPods(): readonly { readonly pod: Pod; readonly isDesired: boolean }[] {
    const working = [...this.#entries.workers.values()].flatMap(({ pod, isDesired, state }) =>
      pod !== undefined && (isDesired || state.kind === 'terminating') ? [{ pod, isDesired }] : [],
    )
    const others = [...[...this.#entries.rejected.values()].map(({ pod }) => pod), ...this.#entries.returning.values()]
    return [...working, ...others.map((pod) => ({ pod, isDesired: true }))].filter(({ pod }) => isStaticPod(pod))
  }

  /** The pods that were admitted and have not ended, with what they were granted. */
  activePods(): readonly Pod[] {
    const { allocations } = this.#deps
    return [...this.#entries.workers.values()].flatMap(({ pod, uid }) =>
      pod === undefined || !this.isActive(uid) ? [] : [allocations.allocated(pod)],
    )
  }

  /** All of them; undefined while something may run that no source has named yet. */
  allActivePods(): readonly Pod[] | undefined {
    const { observedPods } = this.#deps
    const runsAreKnown = observedPods.lastRelistAt !== undefined && observedPods.uids().every((uid) => this.knows(uid))
    return this.isComplete || runsAreKnown ? this.activePods() : undefined
  }

  /** Those of them that their sources still have. The others have given their room away, also for the scheduler, and only end. */
  admittedPods(): readonly Pod[] {
    return this.activePods().filter(({ metadata }) => this.#entries.workers.get(metadata.uid)?.isDesired === true)
  }

  /** The others. */
  endingPods(): readonly Pod[] {
    return this.activePods().filter(({ metadata }) => this.#entries.workers.get(metadata.uid)?.isDesired === false)
  }

  /** Is this pod active? */
  isActive(uid: PodUid): boolean {
    const { pod, state, status } = this.#entries.workers.get(uid) ?? {}
    return (
      pod !== undefined && state?.kind !== 'terminated' && state?.kind !== 'gone' && !isTerminalPhase(status?.phase)
    )
  }

  /** Is this pod active, or has the runtime something of it? */
  isHere(uid: PodUid): boolean {
    return this.isActive(uid) || this.#deps.observedPods.get(uid) !== undefined
  }

  /** The newest spec of a pod that lives. */
  desired(uid: PodUid): Pod | undefined {
    const worker = this.#entries.workers.get(uid)
    return worker?.isDesired === true && worker.state.kind === 'syncing' ? worker.pod : undefined
  }

  /** What each pod is at, and what was done for it; also of pods that are on their way out. */
  explain(): PodExplanation[] {
    const rejected = [...this.#entries.rejected.values()].map(({ pod, status }): PodExplanation => {
      const { namespace, name, uid } = pod.metadata
      const why = `${status.message} (${status.reason})`
      return { namespace, name, uid, state: 'terminated', why, steps: [], probes: [] }
    })
    return [...[...this.#entries.workers.values()].map((worker) => worker.explain()), ...rejected]
  }

  /** What explain() says of the state of each pod, without the reasons. */
  states(): readonly Pick<PodExplanation, 'uid' | 'state'>[] {
    const rejected = [...this.#entries.rejected.values()].map(({ pod }) => ({
      uid: pod.metadata.uid,
      state: 'terminated' as const,
    }))
    return [...[...this.#entries.workers.values()].map(({ uid, state }) => ({ uid, state: state.kind })), ...rejected]
  }

  /** Something about this pod changed that its worker has to see. */
  wake(uid: PodUid): void {
    this.#entries.workers.get(uid)?.wake()
  }

  /** Something that all pods depend on changed, such as the runtime or its network. */
  wakeAll(): void {
    for (const worker of this.#entries.workers.values()) worker.wake()
  }

  /** Ends a pod for the sake of the node, and resolves when nothing of it runs any more. */
  async evict(uid: PodUid, eviction: Eviction, signal: AbortSignal): Promise<void> {
    const worker = this.#entries.workers.get(uid)
    if (worker !== undefined) await evictPod(this.#deps, { worker, eviction }, signal)
  }

  /** Removes what is left of a pod that has ended, or of all that have: the node needs the room. Resolves when it is gone. */
  async dropRemains(uid: PodUid | undefined, signal: AbortSignal): Promise<void> {
    const ended = [...this.#entries.workers.values()].filter(
      (worker) => (uid === undefined || worker.uid === uid) && worker.state.kind === 'terminated',
    )
    await Promise.all(ended.map((worker) => worker.dropRemains(signal)))
  }

  #staticWorkers(name: string): PodWorker[] {
    return [...this.#entries.workers.values()].filter(
      ({ pod }) => pod !== undefined && isStaticPod(pod) && podFullName(pod) === name,
    )
  }
}
