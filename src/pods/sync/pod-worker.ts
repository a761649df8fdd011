import { isDeepStrictEqual } from 'node:util'
import { AbortScope } from '../../base/async/abort-scope.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { emptyObservedPod } from '../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { isTerminal } from '../status/compute-phase.ts'
import type { PodReport } from '../status/pod-report.ts'
import type { PhaseOverride } from '../status/status-input.ts'
import type { ApplySignals } from './apply-signals.ts'
import { cleanUpPod, ORPHAN_GRACE_SECONDS } from './stop/clean-up-pod.ts'
import { computeContainerGrace, computePodGrace } from './decide/compute-grace.ts'
import { createPodHistory } from './pod-history.ts'
import type { PodHistory } from './pod-history.ts'
import { PassCounter } from './pass-counter.ts'
import { PodProbing } from './pod-probing.ts'
import type { PodRuntime } from './pod-runtime.ts'
import { computeTermination } from './pod-state.ts'
import { computeWhy } from './explain/compute-why.ts'
import type { TimelineStep } from './explain/timeline-step.ts'
import type { Timeline } from './explain/timeline.ts'
import type { PodState, TerminationCause } from './pod-state.ts'
import { releaseInjections } from './stop/release-injections.ts'
import { stopAndRefresh } from './stop/stop-and-refresh.ts'
import type { EndingPod } from './stop/stop-and-refresh.ts'
import { syncPod } from './sync-pod.ts'
import type { SyncSettings } from './sync-pod.ts'

export interface PodWorkerDeps {
  readonly runtime: PodRuntime
  readonly settings: SyncSettings
  readonly timeline: Timeline
  /** A step ended: the status may have changed. */
  readonly onStatus: (worker: PodWorker) => void
  /** Nothing of the pod runs any more: its name is free. */
  readonly onEnded: (worker: PodWorker) => void
}

/** What a pod is at, for people. */
export interface PodExplanation {
  readonly namespace: string
  readonly name: string
  readonly uid: PodUid
  readonly state: PodState['kind']
  readonly why: string
  readonly steps: readonly TimelineStep[]
}

/** The pod of a worker; what is left of an unknown pod has no spec, only a name. */
export type PodSubject =
  | { readonly kind: 'pod'; readonly pod: Pod }
  | { readonly kind: 'orphan'; readonly observed: ObservedPod }

/** As the Go kubelet calls these steps in its traces. */
const SPANS = { syncing: 'syncPod', terminating: 'syncTerminatingPod', terminated: 'syncTerminatedPod' } as const

const AWAY_RETRY_MS = 1000
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
  readonly #wakeup = new Wakeup()
  readonly #history: PodHistory
  #subject: PodSubject
  #state: PodState
  #wanted: boolean
  #lingerMs = LINGER_MS
  #pass: AbortScope | undefined
  #nextCheckAt: number | undefined
  /** What the runtime had of the pod when the last step looked. */
  #seen: ObservedPod | undefined
  #probing: PodProbing | undefined
  readonly #passes = new PassCounter()
  #isFinished = false
  #keepsRemains = true
  readonly #cleared = Promise.withResolvers<void>()
  readonly #stopped = Promise.withResolvers<void>()
  readonly #unmounted = Promise.withResolvers<void>()
  #runsAgain = false

  constructor(deps: PodWorkerDeps, subject: PodSubject, state: PodState) {
    this.#deps = deps
    this.#subject = subject
    this.#state = state
    this.#wanted = subject.kind === 'pod'
    this.uid = subject.kind === 'pod' ? subject.pod.metadata.uid : subject.observed.uid
    this.#history = createPodHistory(subject.kind === 'pod' ? subject.pod : undefined)
    this.#history.status = deps.runtime.journal.get(this.uid)
    if (state.kind === 'terminated') this.#stopped.resolve()
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
    return this.#history.status
  }

  /** Nothing of the pod runs any more. */
  get stopped(): Promise<void> {
    return this.#stopped.promise
  }

  /** Nothing of the pod runs any more, and none of its volumes is mounted. */
  get unmounted(): Promise<void> {
    return this.#unmounted.promise
  }

  /** The node needs the room of what is left of the pod when it has ended. Resolves when that is gone. */
  dropRemains(): Promise<void> {
    this.#keepsRemains = false
    this.wake()
    return this.#cleared.promise
  }

  /** What the API may be told; undefined for a pod that it has no more. */
  report(): PodReport | undefined {
    const { pod, status } = this
    if (pod === undefined || !this.#wanted) return undefined
    const hasEnded = this.#state.kind === 'terminated' || this.#state.kind === 'gone'
    return {
      pod,
      status: status ?? pod.status ?? { phase: 'Pending', qosClass: computeQosClass(pod) },
      mayRun: !hasEnded,
      isFinished: hasEnded && this.#isFinished,
    }
  }

  /** Why it is as it is. */
  explain(): PodExplanation {
    const { runtime, timeline, settings } = this.#deps
    const { namespace, name } = this.#subject.kind === 'pod' ? this.#subject.pod.metadata : this.#subject.observed
    const hostNetwork = this.pod?.spec.hostNetwork === true
    const why = computeWhy({
      state: this.#state,
      status: this.#reported(),
      steps: timeline.steps,
      failingProbes: this.#probing?.failures ?? [],
      networkProblem: hostNetwork || this.status?.phase === 'Running' ? undefined : settings.networkProblem(),
      problem: this.#history.problem,
      nextCheckAt: this.#nextCheckAt,
      now: runtime.clock.now(),
    })
    return { namespace, name, uid: this.uid, state: this.#state.kind, why, steps: timeline.steps }
  }

  /** What another agent found out about the end of a pod is known from the API only. */
  #reported(): PodStatus | undefined {
    const hasEnded = this.#state.kind === 'terminated' && !isTerminal(this.status?.phase)
    return hasEnded && isTerminal(this.pod?.status?.phase) ? this.pod?.status : this.status
  }

  wake(): void {
    this.#wakeup.wake()
  }

  /** What the runtime has of the pod changed. A step under way finds that out before it waits; most often it is its own doing. */
  refresh(): void {
    this.#probing?.probes.look()
    this.#endWait()
    if (this.#pass === undefined) this.wake()
  }

  /** The newest wish; the pass under way ends first, unless it only waits for volumes or devices. */
  update(pod: Pod): void {
    this.#subject = { kind: 'pod', pod }
    this.#passes.updated()
    this.#noteStartup(pod)
    this.#endWait()
    this.wake()
  }

  /** Only what the API says of the pod is new. Most often that is what it was told from here; others have a say in whether it is ready, and which claims are its own. */
  note(pod: Pod): void {
    const gates = (pod.spec.readinessGates ?? []).map(({ conditionType }) => conditionType)
    const isOther =
      gates.some((gate) => conditionOf(this.pod, gate) !== conditionOf(pod, gate)) ||
      !isDeepStrictEqual(claimsOf(this.pod), claimsOf(pod))
    this.#subject = { kind: 'pod', pod }
    this.#noteStartup(pod)
    if (isOther) this.wake()
  }

  /** The node takes the pod away, and says why. */
  evict(verdict: PhaseOverride, how: { readonly graceSeconds: number | undefined; readonly isForNow: boolean }): void {
    if (this.#state.kind === 'terminated') return
    this.#history.eviction ??= verdict
    this.#runsAgain = how.isForNow && this.pod !== undefined && isStaticPod(this.pod)
    this.terminate('evicted', how.graceSeconds)
  }

  /** It is ended, or ends, for reasons that may pass. */
  get runsAgain(): boolean {
    return this.#runsAgain
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

  /** The dead containers that are too many on the node: they are removed as soon as they may. */
  dropDead(ids: ReadonlySet<string>): void {
    this.#history.surplus = ids
    this.wake()
  }

  /** Somebody waits for the end of this worker: the remains do not. */
  retryNow(): void {
    this.#lingerMs = 0
    this.wake()
  }

  /**
   * Asks for the end of the pod, faster than it asks for itself when so many seconds are given. Whatever the pass under way waits for is
   * given up, and whatever is being stopped already gets no more time than this.
   */
  terminate(cause: TerminationCause, override: number | undefined): void {
    const recorded = this.#state.kind === 'terminating' ? this.#state.graceSeconds : undefined
    const graceSeconds = this.pod === undefined ? override : computePodGrace(this.pod, { recorded, override })
    this.#state = computeTermination(this.#state, { cause, graceSeconds })
    this.#history.problem = undefined
    if (graceSeconds !== undefined) for (const grace of this.#history.graces) grace.shorten(graceSeconds)
    this.#pass?.abort(new Error('Pod is terminating'))
    this.wake()
  }

  /** Works until nothing of the pod is left, or until the agent leaves; then the pod is left as it is. */
  async run(shutdown: AbortSignal): Promise<void> {
    const { clock, observer } = this.#deps.runtime
    await using probing = this.#createProbing(shutdown)
    this.#probing = probing
    while (this.#state.kind !== 'gone') {
      const ms = await this.#stepSafely(shutdown)
      if (ms === 0 || this.#isGone() || observer.get(this.uid) !== this.#seen) continue
      this.#nextCheckAt = ms === undefined ? undefined : clock.now() + ms
      await this.#wakeup.wait({ clock, ms }, shutdown)
      this.#nextCheckAt = undefined
    }
    this.#stopped.resolve()
    this.#unmounted.resolve()
    this.#cleared.resolve()
    await this.#deps.runtime.journal.forget(this.uid)
  }

  /** One step; a failure is told once and tried again. */
  async #stepSafely(shutdown: AbortSignal): Promise<number | undefined> {
    const { runtime } = this.#deps
    using pass = new AbortScope(shutdown)
    this.#pass = pass
    this.#seen = runtime.observer.get(this.uid)
    try {
      const step = () => this.#traced(() => this.#step({ shutdown, superseded: pass.signal }))
      return await this.#passes.count(runtime, { pod: this.pod, state: this.#state.kind }, step)
    } catch (error) {
      // Whatever broke while the agent leaves broke because it leaves.
      if (shutdown.aborted) throw shutdown.reason
      if (pass.signal.aborted) return 0
      return this.#reportFailure(error)
    } finally {
      this.#pass = undefined
      this.#deps.onStatus(this)
    }
  }

  #noteStartup(pod: Pod): void {
    const { clock, metrics } = this.#deps.runtime
    const start = this.#history.startup.noteApi(pod, clock.now())
    if (start !== undefined) metrics.podStartKnown(start)
  }

  #traced<T>(step: () => Promise<T>): Promise<T> {
    const { kind } = this.#state
    if (kind === 'waiting' || kind === 'gone') return step()
    const { namespace, name } = this.#subject.kind === 'pod' ? this.#subject.pod.metadata : this.#subject.observed
    const attributes = {
      'k8s.pod.uid': this.uid,
      'k8s.pod': `${namespace}/${name}`,
      'k8s.pod.name': name,
      'k8s.namespace.name': namespace,
    }
    return this.#deps.runtime.tracer.span(SPANS[kind], { attributes }, step)
  }

  /** Says what went wrong and returns when to try again. Only what no runtime did is a matter for the people who run the node. */
  #reportFailure(error: unknown): number {
    const { log } = this.#deps.runtime
    const fields = { pod: this.#name(), uid: this.uid, step: this.#state.kind, error }
    if (!(error instanceof CriCallError)) log.error('pod step failed, will try again', fields)
    else log.warn('runtime failed in a step of a pod, will try again', fields)
    return error instanceof CriCallError && error.code === 'Unavailable' ? AWAY_RETRY_MS : FAILURE_RETRY_MS
  }

  /** Returns how long to wait for a wake-up: undefined for as long as it takes. */
  async #step(signals: ApplySignals): Promise<number | undefined> {
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

  async #sync(signals: ApplySignals): Promise<number | undefined> {
    const { runtime, settings } = this.#deps
    const probes = this.#probing?.probes
    const pod = this.#allocated()
    if (pod === undefined || probes === undefined) throw new Error('Cannot sync a pod without a spec')
    const onStatus = () => this.#deps.onStatus(this)
    const result = await syncPod({ runtime, settings, history: this.#history, probes, onStatus }, pod, signals)
    if (this.#state.kind !== 'syncing') return 0
    if (result.kind === 'finished') {
      this.#history.problem = undefined
      await this.#noteEnd()
      this.#state = computeTermination(this.#state, { cause: 'finished', graceSeconds: undefined })
    }
    if (result.kind !== 'wait') return 0
    this.#seen = result.seen
    return result.ms
  }

  async #terminate(graceSeconds: number | undefined, shutdown: AbortSignal): Promise<number | undefined> {
    const { runtime } = this.#deps
    const { pod } = this
    const grace = graceSeconds ?? (pod === undefined ? ORPHAN_GRACE_SECONDS : computeContainerGrace(pod))
    this.#probing?.probes.endRegular()
    try {
      const { seen, retryMs } = await stopAndRefresh(runtime, { ...this.#ending(), graceSeconds: grace }, shutdown)
      this.#seen = seen
      if (retryMs !== undefined) return retryMs
    } catch (error) {
      if (error instanceof CriCallError && pod !== undefined) {
        const message = `error killing pod: ${error.detail}`
        runtime.events.record(pod, { type: 'Warning', reason: 'FailedKillPod', message })
      }
      throw error
    }
    await this.#probing?.probes.end()
    const waitMs = await releaseInjections(runtime, { ...this.#observed(), history: this.#history }, shutdown)
    if (waitMs !== undefined) return waitMs
    const allocated = this.#allocated()
    if (allocated !== undefined) {
      await this.#probing?.report(allocated, this.#observed(), true)
      if (this.#wanted) await this.#noteEnd()
    }
    this.#state = { kind: 'terminated', at: runtime.clock.monotonic() }
    runtime.log.info('pod ended', { pod: this.#name(), uid: this.uid, phase: this.#history.status?.phase })
    this.#stopped.resolve()
    this.#deps.onEnded(this)
    return 0
  }

  #createProbing(shutdown: AbortSignal): PodProbing {
    const { runtime, settings, timeline } = this.#deps
    const { runtimeName } = settings
    const onChange = () => this.#probesChanged()
    const deps = { runtime, history: this.#history, runtimeName, uid: this.uid, timeline, onChange }
    return new PodProbing(deps, shutdown)
  }

  /** A step under way may take long, and whoever sends requests to the pod has to know now whether it is ready. */
  async #probesChanged(): Promise<void> {
    this.wake()
    const pod = this.#allocated()
    if (this.#pass === undefined || pod === undefined) return
    await this.#probing?.report(pod, this.#observed(), false)
    this.#deps.onStatus(this)
  }

  /** From here on the pod never runs again, whatever happens to the agent or the runtime. */
  async #noteEnd(): Promise<void> {
    const { status } = this.#history
    if (!this.#runsAgain && status !== undefined && isTerminal(status.phase))
      await this.#deps.runtime.journal.record(this.uid, status)
  }

  async #cleanUp(endedAt: number, shutdown: AbortSignal): Promise<number | undefined> {
    const ended = {
      ...this.#ending(),
      wanted: this.#wanted,
      keepUntil: endedAt + this.#lingerMs,
      keepsRemains: this.#keepsRemains,
      isFinished: this.#isFinished,
      isAwaited: this.#lingerMs === 0,
      onUnmounted: () => this.#unmounted.resolve(),
    }
    const result = await cleanUpPod(this.#deps.runtime, ended, shutdown)
    if (result.kind === 'gone') {
      this.#state = { kind: 'gone' }
      return undefined
    }
    if (result.isFinished && !ended.keepsRemains) this.#cleared.resolve()
    this.#seen = result.seen
    this.#isFinished = result.isFinished
    return result.ms
  }

  /** The pod with what it was granted; its spec may ask for something else. */
  #allocated(): Pod | undefined {
    const { pod } = this
    return pod && this.#deps.runtime.allocations.allocated(pod)
  }

  #ending(): EndingPod {
    return { pod: this.#allocated(), observed: () => this.#observed(), history: this.#history }
  }

  #endWait(): void {
    this.#history.wait?.abort(new Error('Something about the pod changed'))
  }

  // Asked by its own name: the compiler believes that a state which was another a moment ago still is.
  #isGone(): boolean {
    return this.#state.kind === 'gone'
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

/** The claims that others made for the pod. */
function claimsOf(pod: Pod | undefined): readonly unknown[] {
  return [pod?.status?.resourceClaimStatuses, pod?.status?.extendedResourceClaimStatus]
}

function conditionOf(pod: Pod | undefined, type: string): string | undefined {
  return pod?.status?.conditions?.find((condition) => condition.type === type)?.status
}
