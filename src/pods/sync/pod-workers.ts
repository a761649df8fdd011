import type { TaskGroup } from '../../base/async/task-group.ts'
import type { PodLifeMetrics } from '../../metrics/pod-life-metrics.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isStaticPod, podFullName, podLogName } from '../../model/pod/pod.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { toSeconds } from '../../model/text/int64.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import type { PodAllocations } from '../allocations/pod-allocations.ts'
import { computeDeadSurplus } from './decide/compute-dead-surplus.ts'
import { computeFirstState, isTerminalInApi } from './decide/compute-first-state.ts'
import { oldEnoughBefore } from './stop/remove-leftovers.ts'
import { evictPod } from './stop/evict-pod.ts'
import { Timeline } from './explain/timeline.ts'
import { noteSteps } from './explain/note-steps.ts'
import { restartCountsOf } from './pod-history.ts'
import type { PodSubject } from './pod-life.ts'
import type { PodState } from './pod-state.ts'
import { RejectedPods } from './rejected-pods.ts'
import type { RejectedPodsDeps } from './rejected-pods.ts'
import type { PodResizes } from './resize/pod-resizes.ts'
import type { PodRegistry, RegistryEntries } from './pod-registry.ts'
import { PodWorker } from './pod-worker.ts'
import type { PodDeps } from './pod-worker.ts'
import type { SyncSettings } from './sync-pod.ts'

export interface PodWorkersDeps extends RejectedPodsDeps {
  readonly registry: PodRegistry
  /** What all workers share; each notes its own steps. */
  readonly podDeps: Omit<PodDeps, 'noteStep'> & {
    readonly metrics: Pick<PodLifeMetrics, 'podRestarted' | 'podOrphaned'>
  }
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
}

const SHUTDOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.'
const NODE_SHUTDOWN = {
  reason: 'Terminated',
  message: SHUTDOWN_MESSAGE,
  disruption: SHUTDOWN_MESSAGE,
  isForNow: true,
} as const

// What was against a pod that was let in may pass without a word, such as a device plugin that fails.
const READMISSION_MS = 10_000

/** A static pod that was let in and could not have what it was promised. */
interface RevokedAdmission {
  readonly status: PodStatus
  readonly restartCounts: ReadonlyMap<string, number>
}

/** The workers of all pods on the node, and the only place where one starts or ends. */
export class PodWorkers {
  readonly #deps: PodWorkersDeps
  readonly #group: TaskGroup
  readonly #registry: PodRegistry
  readonly #entries: RegistryEntries
  readonly #rejected: RejectedPods
  /** Until it runs or is removed. */
  readonly #revoked = new Map<PodUid, RevokedAdmission>()
  /** Those of them that are not judged yet. */
  readonly #pausing = new Set<PodUid>()

  constructor(deps: PodWorkersDeps, group: TaskGroup) {
    this.#deps = deps
    this.#group = group
    this.#registry = deps.registry
    this.#entries = deps.registry.takeEntries()
    this.#rejected = new RejectedPods(deps, this.#entries.rejected)
  }

  get size(): number {
    return this.#entries.workers.size
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
    this.#entries.isComplete = true
    for (const uid of this.#deps.observedPods.uids()) this.#adoptOrphan(uid)
    this.#deps.allocations.forgetUnknown((uid) => this.#registry.knows(uid))
    this.#deps.resizes.sourcesReady()
  }

  /** What the runtime has of this pod changed. */
  observed(uid: PodUid): void {
    const worker = this.#entries.workers.get(uid)
    const leftAlone = this.#entries.leftAlone.get(uid)
    if (worker !== undefined) worker.observedChanged()
    else if (leftAlone !== undefined) this.#update('UPDATE', leftAlone)
    else this.#adoptOrphan(uid)
  }

  /** Takes a pod away because the machine shuts down, and resolves when nothing of it runs and none of its volumes is mounted. */
  async shutDown(uid: PodUid, graceSeconds: number | undefined, signal: AbortSignal): Promise<void> {
    const worker = this.#entries.workers.get(uid)
    if (worker === undefined) return
    await evictPod(this.#deps.podDeps, { worker, eviction: { ...NODE_SHUTDOWN, graceSeconds } }, signal)
    await worker.unmounted(signal)
  }

  /** The machine stays: static pods that were ended or rejected for its shutdown run again, because no controller replaces them. */
  runAgain(): void {
    for (const worker of this.#entries.workers.values()) {
      if (worker.pod === undefined || !worker.isDesired || !worker.runsAgain) continue
      this.#entries.returning.set(worker.uid, worker.pod)
      worker.remove()
      worker.makeWay()
    }
    this.retryRejected()
  }

  /** What was against static pods may have passed: no controller replaces them, so each is judged again. */
  retryRejected(): void {
    for (const { pod } of this.#rejected.all()) if (isStaticPod(pod)) this.#retry(pod)
  }

  /** Lets every pod remove the dead containers that are too many on the node: so many may stay, any number when the limit is below 0. */
  collectDead(limit: number): void {
    const { podDeps, observedPods } = this.#deps
    const pods = [...this.#entries.workers.values()].flatMap(({ uid, state }) => {
      const observed = observedPods.get(uid)
      const hasEnded = state.kind === 'terminated'
      return observed === undefined ? [] : [{ observed, hasEnded }]
    })
    const createdBefore = oldEnoughBefore(podDeps.node, podDeps.clock.now())
    const surplus = limit < 0 ? new Map() : computeDeadSurplus(pods, { limit, createdBefore })
    for (const worker of this.#entries.workers.values()) worker.dropDead(surplus.get(worker.uid) ?? new Set())
  }

  #add(pod: Pod, restartCounts?: ReadonlyMap<string, number>): void {
    const { uid } = pod.metadata
    const leaving = this.#entries.workers.get(uid)
    if (leaving !== undefined) {
      this.#entries.returning.set(uid, pod)
      leaving.makeWay()
      return
    }
    if (pod.unreadable !== undefined) {
      this.#addUnreadable(pod, pod.unreadable)
      return
    }
    // Another version of the same static pod has not ended: what it holds now, its successor may have.
    const blocked = isStaticPod(pod) && this.#registry.isNameTaken(podFullName(pod))
    if (!blocked && !this.#admit(pod)) return
    this.#deps.podDeps.log.info('pod added', { pod: podLogName(pod), uid, waitsForName: blocked || undefined })
    this.#start({ kind: 'pod', pod, restartCounts }, blocked ? { kind: 'waiting' } : this.#firstState(pod))
  }

  /** What cannot be read is not started; what runs of it goes on until the pod is deleted, and then the API may forget it. */
  #addUnreadable(pod: Pod, problem: string): void {
    const { uid, deletionTimestamp } = pod.metadata
    const observed = this.#deps.observedPods.get(uid)
    if (observed === undefined) {
      this.#rejected.rejectUnreadable(pod, problem)
      this.#deps.onStatus(uid)
    } else if (deletionTimestamp === undefined && observed.containers.length > 0) this.#entries.leftAlone.set(uid, pod)
    else {
      this.#entries.returning.set(uid, pod)
      const graceSeconds = toGrace(pod)
      this.#start(
        { kind: 'orphan', observed },
        { kind: 'terminating', cause: 'orphaned', graceSeconds, after: 'replace' },
      )
    }
  }

  /** Takes the pod in; false when it is rejected. */
  #admit(pod: Pod): boolean {
    const { allocations, observedPods, onStatus } = this.#deps
    const { uid, deletionTimestamp } = pod.metadata
    const observed = observedPods.get(uid)
    if (observed !== undefined && observed.containers.length > 0) allocations.adopt(pod, observed)
    // What is terminal, or only has to end, needs nothing that the node could lack.
    if (deletionTimestamp !== undefined || isTerminalInApi(pod)) return true
    const before = this.#rejected.get(uid)
    const isRejected = this.#rejected.reject(pod)
    if (!isRejected) allocations.admit(pod)
    if (this.#rejected.get(uid)?.status !== before?.status) onStatus(uid)
    return !isRejected
  }

  /** Judges a rejected pod again. */
  #retry(pod: Pod): void {
    const { uid } = pod.metadata
    const isHeld = this.#entries.workers.has(uid) || this.#pausing.has(uid)
    if (isHeld || this.#registry.isNameTaken(podFullName(pod)) || !this.#admit(pod)) return
    this.#deps.podDeps.log.info('pod admitted, it was rejected before', { pod: podLogName(pod), uid })
    const restartCounts = this.#revoked.get(uid)?.restartCounts
    this.#revoked.delete(uid)
    this.#start({ kind: 'pod', pod, restartCounts }, this.#firstState(pod))
    this.#deps.resizes.added([pod])
  }

  #update(operation: PodUpdate['operation'], received: Pod): void {
    const { uid, deletionTimestamp } = received.metadata
    const worker = this.#entries.workers.get(uid)
    const pod = withKnownSpec(received, worker?.pod)
    if (this.#entries.returning.has(uid)) this.#entries.returning.set(uid, pod)
    const wasLeftAlone = this.#entries.leftAlone.delete(uid)
    if (worker === undefined && (wasLeftAlone || pod.unreadable !== undefined)) {
      this.#add(pod)
      return
    }
    this.#updateRejected(pod)
    // What runs of it is being ended already, and may get less time now.
    if (pod.unreadable !== undefined) worker?.terminate('orphaned', toGrace(pod))
    if (worker === undefined || !worker.isDesired) return
    const before = worker.pod
    if (operation === 'RECONCILE') worker.apiStatusChanged(pod)
    else worker.desiredChanged(pod)
    if (deletionTimestamp !== undefined) worker.terminate('deleted', undefined)
    // Another component ended it, such as the controller that cleans up after nodes that were away.
    else if (isTerminalInApi(pod) && worker.state.kind === 'syncing') worker.terminate('finished', undefined)
    if (before !== undefined && operation === 'UPDATE') this.#deps.resizes.updated(before, pod)
  }

  #updateRejected(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata
    if (this.#rejected.get(uid) === undefined) return
    this.#rejected.update(pod)
    if (deletionTimestamp !== undefined && this.#registry.runs(uid)) {
      this.#rejected.forget(uid)
      this.#start({ kind: 'pod', pod }, this.#firstState(pod))
    } else if (isStaticPod(pod)) this.#retry(pod)
    this.#deps.onStatus(uid)
  }

  #remove(uid: PodUid): void {
    if (this.#rejected.forget(uid)) {
      this.#deps.allocations.forget(uid)
      this.#deps.onStatus(uid)
    }
    this.#entries.returning.delete(uid)
    this.#revoked.delete(uid)
    this.#entries.leftAlone.delete(uid)
    this.#entries.workers.get(uid)?.remove()
    // What runs of a rejected pod has had no worker so far.
    this.#adoptOrphan(uid)
    this.retryRejected()
  }

  #adoptOrphan(uid: PodUid): void {
    const observed = this.#deps.observedPods.get(uid)
    if (!this.#entries.isComplete || observed === undefined || this.#registry.knows(uid)) return
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
      onEnded: (ended: PodWorker) => {
        const { pod, uid, isDesired } = ended
        this.#deps.onEnded(uid)
        if (pod !== undefined) this.#releaseName(podFullName(pod))
        this.#deps.resizes.retry(isDesired ? 'pod_terminated' : 'pods_removed')
        if (pod !== undefined && ended.isReadmitted) this.#revoke(ended, pod)
        this.retryRejected()
      },
    }
    const worker = new PodWorker(deps, subject, state)
    this.#entries.workers.set(worker.uid, worker)
    // It repeats what fails by itself. One that ends in another way would leave its pod without a worker.
    this.#group.runEssential(`pod ${worker.uid}`, async (signal) => {
      await worker.run(signal)
      this.#forget(worker)
    })
  }

  /** Revokes the admission of the pod: its worker ends, and it counts as one that was never let in. */
  #revoke(worker: PodWorker, pod: Pod): void {
    const { uid, status } = worker
    if (status === undefined) return
    this.#revoked.set(uid, { status, restartCounts: restartCountsOf(status) })
    this.#entries.returning.set(uid, pod)
    worker.remove()
    worker.makeWay()
  }

  /** True when the admission of the pod was revoked: it is judged again soon, and whenever something changes after that. */
  #rejectRevoked(pod: Pod): boolean {
    const { uid } = pod.metadata
    const revoked = this.#revoked.get(uid)
    if (revoked === undefined) return false
    this.#rejected.revoke(pod, revoked.status)
    this.#deps.onStatus(uid)
    this.#pausing.add(uid)
    this.#group.run(`readmission of pod ${uid}`, async (signal) => {
      await this.#deps.podDeps.clock.sleep(READMISSION_MS, signal)
      this.#pausing.delete(uid)
      const rejected = this.#rejected.get(uid)
      if (rejected !== undefined) this.#retry(rejected.pod)
    })
    return true
  }

  #forget(worker: PodWorker): void {
    this.#entries.workers.delete(worker.uid)
    this.#deps.resizes.forget(worker.uid)
    this.#deps.allocations.forget(worker.uid)
    this.#deps.onGone(worker.uid)
    if (worker.pod !== undefined) this.#releaseName(podFullName(worker.pod))
    const again = this.#entries.returning.get(worker.uid)
    this.#entries.returning.delete(worker.uid)
    if (again?.unreadable !== undefined) this.#addUnreadable(again, again.unreadable)
    else if (again !== undefined && !this.#rejectRevoked(again)) {
      this.#deps.podDeps.metrics.podRestarted(isStaticPod(again))
      this.#add(again, restartCountsOf(worker.status))
      this.#deps.resizes.added([again])
    }
    this.retryRejected()
  }

  /** A static pod of this name has ended: the first that waits for the name gets it, if the node takes it in. */
  #releaseName(name: string): void {
    const next = this.#registry.nextForName(name)
    if (next?.pod === undefined) return
    if (this.#admit(next.pod)) next.release()
    else next.remove()
  }

  #firstState(pod: Pod): PodState {
    const wasObserved = this.#deps.observedPods.get(pod.metadata.uid) !== undefined
    return computeFirstState(pod, { wasObserved, now: this.#deps.podDeps.clock.monotonic() })
  }
}

/** A pod that can no longer be read goes on with the spec that it last had; that it is deleted counts all the same. */
function withKnownSpec(pod: Pod, known: Pod | undefined): Pod {
  if (pod.unreadable === undefined || known === undefined) return pod
  const metadata = { ...pod.metadata, generation: known.metadata.generation }
  return { metadata, spec: known.spec, status: pod.status }
}

function toGrace({ metadata: { deletionGracePeriodSeconds: grace } }: Pod): number | undefined {
  return grace === undefined ? undefined : toSeconds(grace)
}

function byCreation(a: Pod, b: Pod): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return first === second ? 0 : first < second ? -1 : 1
}
