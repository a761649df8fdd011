import { AbortScope } from '../async/abort-scope.ts'
import { Wakeup } from '../async/wakeup.ts'
import { podLogDirectory } from '../containers/log-paths.ts'
import type { PodStatus } from '../model/generated/core-v1.ts'
import { emptyObservedPod, hasRunningParts } from '../model/observed-pod.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import type { Pod, PodUid } from '../model/pod.ts'
import { podGrace } from './apply-pod-actions.ts'
import { computeLeftovers } from './compute-leftovers.ts'
import { createPodMemory } from './pod-memory.ts'
import type { PodRuntime } from './pod-runtime.ts'
import { computeTermination } from './pod-state.ts'
import type { PodState, TerminationCause } from './pod-state.ts'
import { removeLeftovers } from './remove-leftovers.ts'
import { stopPod } from './stop-containers.ts'
import { syncPod, updateStatus } from './sync-pod.ts'
import type { SyncSettings } from './sync-pod.ts'

export interface PodWorkerDeps {
  readonly runtime: PodRuntime
  readonly settings: SyncSettings
  /** A step ended: the status may have changed. */
  readonly onStatus: (worker: PodWorker) => void
  /** Nothing of the pod runs any more: its name is free. */
  readonly onEnded: (worker: PodWorker) => void
}

/** The pod of a worker; what is left of an unknown pod has no spec, only a name. */
export type PodSubject =
  | { readonly kind: 'pod'; readonly pod: Pod }
  | { readonly kind: 'orphan'; readonly observed: ObservedPod }

// Nobody knows what an orphan would need, so it gets the least.
const ORPHAN_GRACE_SECONDS = 1
const STOP_RETRY_MS = 1000
const FAILURE_RETRY_MS = 10_000
// Log collectors get a moment to read the last lines before the files go.
const LINGER_MS = 5000

/**
 * The one owner of a pod: nobody else starts or stops its containers. Messages only wake it; it reads the newest wish and the newest
 * observation itself.
 */
export class PodWorker {
  readonly uid: PodUid
  readonly #deps: PodWorkerDeps
  readonly #bell = new Wakeup()
  readonly #memory = createPodMemory()
  #subject: PodSubject
  #state: PodState
  #wanted: boolean
  #lingerMs = LINGER_MS
  #pass: AbortScope | undefined

  constructor(deps: PodWorkerDeps, subject: PodSubject, state: PodState) {
    this.#deps = deps
    this.#subject = subject
    this.#state = state
    this.#wanted = subject.kind === 'pod'
    this.uid = subject.kind === 'pod' ? subject.pod.metadata.uid : subject.observed.uid
  }

  /** Undefined for an orphan. */
  get pod(): Pod | undefined {
    return this.#subject.kind === 'pod' ? this.#subject.pod : undefined
  }

  get state(): PodState {
    return this.#state
  }

  /** False once the source of the pod no longer has it. */
  get wanted(): boolean {
    return this.#wanted
  }

  get status(): PodStatus | undefined {
    return this.#memory.status
  }

  wake(): void {
    this.#bell.wake()
  }

  /** The newest wish; the pass under way ends first. */
  update(pod: Pod): void {
    this.#subject = { kind: 'pod', pod }
    this.wake()
  }

  /** A waiting pod may start now. */
  release(): void {
    if (this.#state.kind === 'waiting') this.#state = { kind: 'syncing' }
    this.wake()
  }

  /** The source no longer has the pod. */
  remove(): void {
    this.#wanted = false
    this.terminate('removed', undefined)
  }

  /** Somebody waits for the end of this worker: the remains do not. */
  hurry(): void {
    this.#lingerMs = 0
    this.wake()
  }

  /** Asks for the end of the pod. Whatever the pass under way waits for is given up. */
  terminate(cause: TerminationCause, graceSeconds: number | undefined): void {
    this.#state = computeTermination(this.#state, { cause, graceSeconds })
    this.#pass?.abort(new Error('Pod is terminating'))
    this.wake()
  }

  /** Works until nothing of the pod is left, or until the agent leaves; then the pod is left as it is. */
  async run(shutdown: AbortSignal): Promise<void> {
    const { clock } = this.#deps.runtime
    while (this.#state.kind !== 'gone') {
      const ms = await this.#stepSafely(shutdown)
      if (ms !== 0) await this.#bell.wait({ clock, ms }, shutdown)
    }
  }

  /** One step; a failure is told once and tried again. */
  async #stepSafely(shutdown: AbortSignal): Promise<number | undefined> {
    const { runtime } = this.#deps
    using pass = new AbortScope(shutdown)
    this.#pass = pass
    try {
      return await this.#step({ shutdown, superseded: pass.signal })
    } catch (error) {
      if (shutdown.aborted) throw error
      if (pass.signal.aborted) return 0
      runtime.log.error('pod step failed, will try again', {
        pod: this.#name(),
        uid: this.uid,
        step: this.#state.kind,
        error,
      })
      return FAILURE_RETRY_MS
    } finally {
      this.#pass = undefined
      this.#deps.onStatus(this)
    }
  }

  /** Returns how long to wait for a wake-up: undefined for as long as it takes. */
  async #step(signals: {
    readonly shutdown: AbortSignal
    readonly superseded: AbortSignal
  }): Promise<number | undefined> {
    switch (this.#state.kind) {
      case 'waiting':
      case 'gone':
        return undefined
      case 'syncing':
        return await this.#sync(signals)
      case 'terminating':
        return await this.#terminate(this.#state.graceSeconds, signals.shutdown)
      case 'terminated':
        return await this.#cleanUp(this.#state.at, signals.shutdown)
    }
  }

  async #sync(signals: {
    readonly shutdown: AbortSignal
    readonly superseded: AbortSignal
  }): Promise<number | undefined> {
    const { runtime, settings } = this.#deps
    const { pod } = this
    if (pod === undefined) throw new Error('Cannot sync a pod without a spec')
    const result = await syncPod({ runtime, settings, memory: this.#memory }, pod, signals)
    if (this.#state.kind !== 'syncing') return 0
    if (result.kind === 'finished')
      this.#state = computeTermination(this.#state, { cause: 'finished', graceSeconds: undefined })
    return result.kind === 'wait' ? result.ms : 0
  }

  async #terminate(graceSeconds: number | undefined, shutdown: AbortSignal): Promise<number | undefined> {
    const { runtime } = this.#deps
    const { pod } = this
    const known = this.#observed()
    const grace = Math.max(1, graceSeconds ?? (pod === undefined ? ORPHAN_GRACE_SECONDS : podGrace(pod)))
    await stopPod(runtime, { pod, observed: known, graceSeconds: grace }, shutdown)
    const fresh = (await runtime.observer.refresh(this.uid)) ?? emptyObservedPod({ ...known, uid: this.uid })
    if (hasRunningParts(fresh)) {
      // Something that was under way when the end was asked for is there only now; anything else did not stop.
      const isNew = fresh.sandboxes.length + fresh.containers.length > known.sandboxes.length + known.containers.length
      if (!isNew)
        runtime.log.warn('pod still runs after it was stopped, will try again', { pod: this.#name(), uid: this.uid })
      return isNew ? 0 : STOP_RETRY_MS
    }
    if (pod !== undefined) await this.#tellEnd(pod)
    this.#state = { kind: 'terminated', at: runtime.clock.now() }
    runtime.log.info('pod ended', { pod: this.#name(), uid: this.uid, phase: this.#memory.status?.phase })
    this.#deps.onEnded(this)
    return 0
  }

  async #tellEnd(pod: Pod): Promise<void> {
    const { runtime, settings } = this.#deps
    await updateStatus({ runtime, settings, memory: this.#memory }, pod, { ended: true })
  }

  /** A finished pod that is still wanted keeps its newest remains; one that is not keeps nothing. */
  async #cleanUp(endedAt: number, shutdown: AbortSignal): Promise<number | undefined> {
    const { runtime } = this.#deps
    const observed = this.#observed()
    if (this.#wanted) {
      await removeLeftovers(runtime, observed, computeLeftovers(observed, runtime.node.deadInstancesKept), shutdown)
      return undefined
    }
    const left = endedAt + this.#lingerMs - runtime.clock.now()
    if (left > 0) return left
    await removeLeftovers(runtime, observed, observed, shutdown)
    const after = await runtime.observer.refresh(this.uid)
    if (after !== undefined && hasRunningParts(after)) {
      throw new Error('Cannot remove what is left of the pod: something of it runs again')
    }
    await runtime.cgroups.remove(this.uid)
    const logs = podLogDirectory(runtime.node.podLogsDirectory, { metadata: { ...observed, uid: this.uid } })
    await runtime.files.removePod(this.uid, observed.name === '' ? undefined : logs)
    this.#state = { kind: 'gone' }
    return undefined
  }

  #observed(): ObservedPod {
    const identity = this.#subject.kind === 'pod' ? this.#subject.pod.metadata : this.#subject.observed
    return this.#deps.runtime.observer.get(this.uid) ?? emptyObservedPod({ ...identity, uid: this.uid })
  }

  #name(): string {
    const { namespace, name } = this.#subject.kind === 'pod' ? this.#subject.pod.metadata : this.#subject.observed
    return `${namespace}/${name}`
  }
}
