import { AbortScope } from '../../base/async/abort-scope.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'
import type { PodStartMetrics } from '../../metrics/pod-start-metrics.ts'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { PodReport } from '../status/pod-report.ts'
import type { PhaseOverride } from '../status/status-input.ts'
import { hasApiNews } from './decide/has-api-news.ts'
import type { ExitJournal } from './report/exit-journal.ts'
import { explainPod } from './explain/explain-pod.ts'
import type { PodExplanation } from './explain/explain-pod.ts'
import type { Timeline } from './explain/timeline.ts'
import { PassCounter, tracePass } from './report/pass-counter.ts'
import type { PassCounterDeps } from './report/pass-counter.ts'
import { isNewFailure } from './pod-history.ts'
import { PodLife } from './pod-life.ts'
import type { PodSubject } from './pod-life.ts'
import { PodProbing } from './probing/pod-probing.ts'
import {
  computeDrop,
  computeReplacement,
  hasDropped,
  hasStopped,
  hasUnmounted,
  isReadmitted,
  isDesired,
  runsAgain,
} from './pod-state.ts'
import type { PodState, TerminationCause, TerminationRequest } from './pod-state.ts'
import { withAllocatedResources, stepPod } from './step-pod.ts'
import type { NextWake, StepPodDeps } from './step-pod.ts'
import type { SyncSettings } from './sync-pod.ts'

/** Everything that the worker of a pod acts through: the sum of what its steps need. */
export type PodDeps = StepPodDeps &
  PassCounterDeps & {
    readonly journal: Pick<ExitJournal, 'get' | 'forget'>
    readonly metrics: Pick<PodStartMetrics, 'podStartKnown'>
    readonly tracer: Tracer
  }

export type PodWorkerDeps = PodDeps & {
  readonly settings: SyncSettings
  readonly timeline: Timeline
  /** A step ended: the status may have changed. */
  readonly onStatus: (worker: PodWorker) => void
  /** Nothing of the pod runs any more: its name is free. */
  readonly onEnded: (worker: PodWorker) => void
}

/** What the worker is doing now. */
type Activity =
  | { readonly kind: 'pass'; readonly scope: AbortScope }
  /** Until something wakes it, or until the next check is due. */
  | { readonly kind: 'rest'; readonly nextCheckAt: number | undefined }

const AT_REST: Activity = { kind: 'rest', nextCheckAt: undefined }
const RUNTIME_RETRY_MS = 1000
const FAILURE_RETRY_MS = 10_000

/**
 * The one owner of a pod: nothing else starts or stops its containers. Messages only wake it; it reads the newest desired pod and the newest
 * observation itself.
 */
export class PodWorker {
  readonly uid: PodUid
  readonly #deps: PodWorkerDeps
  readonly #wakeup = new Wakeup()
  readonly #passes = new PassCounter()
  readonly #life: PodLife
  readonly #probing: PodProbing
  #activity = AT_REST
  #hasRecalled = false

  constructor(deps: PodWorkerDeps, subject: PodSubject, state: PodState) {
    this.#deps = deps
    this.#life = new PodLife(deps, subject, state)
    this.uid = this.#life.identity.uid
    this.#life.history.status = deps.journal.get(this.uid)
    this.#probing = this.#createProbing()
  }

  /** Undefined for an orphan. */
  get pod(): Pod | undefined {
    return this.#life.pod
  }

  get state(): PodState {
    return this.#life.state.value
  }

  /** False once the source of the pod no longer has it. */
  get isDesired(): boolean {
    return isDesired(this.state)
  }

  /** It is ended, or ends, for reasons that may pass. */
  get runsAgain(): boolean {
    return runsAgain(this.state)
  }

  /** It ended because it could not have what it was promised, and is judged again. */
  get isReadmitted(): boolean {
    return isReadmitted(this.state)
  }

  get status(): PodStatus | undefined {
    return this.#life.status
  }

  /** Resolves when nothing of the pod runs any more. */
  async stopped(signal: AbortSignal): Promise<void> {
    await this.#life.state.until(hasStopped, signal)
  }

  /** Resolves when nothing of the pod runs any more, and none of its volumes is mounted. */
  async unmounted(signal: AbortSignal): Promise<void> {
    await this.#life.state.until(hasUnmounted, signal)
  }

  /** What the API may know; undefined for a pod that it no longer has. */
  report(): PodReport | undefined {
    return this.#life.report()
  }

  /** Why it is as it is. */
  explain(): PodExplanation {
    const { settings, timeline, clock } = this.#deps
    return explainPod({
      identity: this.#life.identity,
      pod: this.pod,
      state: this.state,
      status: this.status,
      steps: timeline.steps,
      failingProbes: this.#probing.failures,
      probes: this.#probing.reports,
      networkProblem: settings.networkProblem(),
      problem: this.#life.history.problem,
      nextCheckAt: this.#activity.kind === 'rest' ? this.#activity.nextCheckAt : undefined,
      now: clock.now(),
    })
  }

  wake(): void {
    this.#wakeup.wake()
  }

  /** What the runtime has of the pod changed. A pass under way finds that out before it rests; most often it is its own doing. */
  observedChanged(): void {
    this.#probing.probes.refresh()
    this.#endWait()
    if (this.#activity.kind === 'rest') this.wake()
  }

  /** The newest desired pod; the pass under way ends first, unless it only waits for volumes or devices. */
  desiredChanged(pod: Pod): void {
    this.#life.pod = pod
    this.#passes.updated()
    this.#noteStartup(pod)
    this.#endWait()
    this.wake()
  }

  /** Only what the API says of the pod is new. Most often that is what this agent reported itself. */
  apiStatusChanged(pod: Pod): void {
    const isNews = hasApiNews(this.pod, pod)
    this.#life.pod = pod
    this.#noteStartup(pod)
    if (isNews) this.wake()
  }

  /** The node takes the pod away, and says why. */
  evict(verdict: PhaseOverride, how: { readonly graceSeconds: number | undefined; readonly isForNow: boolean }): void {
    if (this.state.kind === 'terminated') return
    this.#life.history.eviction ??= verdict
    const restarts = how.isForNow && this.pod !== undefined && isStaticPod(this.pod)
    this.#end({ cause: 'evicted', graceSeconds: how.graceSeconds, restarts })
  }

  /** A waiting pod may start now. */
  release(): void {
    if (this.state.kind === 'waiting') this.#life.state.set({ kind: 'syncing' })
    this.wake()
  }

  /** The source no longer has the pod. */
  remove(): void {
    this.#end({ cause: 'removed', graceSeconds: undefined })
  }

  /** Asks for the end of the pod, faster than it asks for itself when so many seconds are given. */
  terminate(cause: TerminationCause, graceSeconds: number | undefined): void {
    this.#end({ cause, graceSeconds })
  }

  /** A new worker waits for the end of this one: nothing of the pod stays longer than it has to. */
  makeWay(): void {
    this.#life.state.set(computeReplacement(this.state))
    this.wake()
  }

  /** The dead containers that are too many on the node: they are removed as soon as they may. */
  dropDead(ids: ReadonlySet<string>): void {
    this.#life.history.surplus = ids
    this.wake()
  }

  /** The node needs the room of what is left of the pod when it has ended. Resolves when that is gone. */
  async dropRemains(signal: AbortSignal): Promise<void> {
    this.#life.state.set(computeDrop(this.state))
    this.wake()
    await this.#life.state.until(hasDropped, signal)
  }

  /** Works until nothing of the pod is left, or until the agent leaves; then the pod is left as it is. */
  async run(shutdown: AbortSignal): Promise<void> {
    const { clock, observer, journal } = this.#deps
    await using _ = this.#probing
    while (!this.#isGone()) {
      const { ms, seen } = await this.#stepSafely(shutdown)
      if (ms === 0 || this.#isGone() || observer.get(this.uid) !== seen) continue
      this.#activity = { kind: 'rest', nextCheckAt: ms === undefined ? undefined : clock.now() + ms }
      await this.#wakeup.wait({ clock, ms }, shutdown)
    }
    await journal.forget(this.uid)
  }

  /** One step; a failure is logged once and tried again. */
  async #stepSafely(shutdown: AbortSignal): Promise<NextWake> {
    using scope = new AbortScope(shutdown)
    this.#activity = { kind: 'pass', scope }
    const seen = this.#deps.observer.get(this.uid)
    try {
      await this.#recall()
      return await this.#step(scope, shutdown)
    } catch (error) {
      // What fails while the agent leaves fails because it leaves.
      if (shutdown.aborted) throw shutdown.reason
      return { ms: scope.signal.aborted ? 0 : this.#reportFailure(error), seen }
    } finally {
      this.#activity = AT_REST
      this.#deps.onStatus(this)
    }
  }

  /** Before anything is done about the pod: what an earlier agent noted about its end. */
  async #recall(): Promise<void> {
    if (this.#hasRecalled) return
    await this.#life.termination.recall(this.state.kind === 'terminating')
    this.#hasRecalled = true
  }

  async #step({ signal: superseded }: AbortScope, shutdown: AbortSignal): Promise<NextWake> {
    const { settings, tracer } = this.#deps
    const context = {
      deps: this.#deps,
      settings,
      life: this.#life,
      probing: this.#probing,
      onStatus: () => this.#deps.onStatus(this),
      onEnded: () => this.#deps.onEnded(this),
    }
    const pass = { identity: this.#life.identity, pod: this.pod, state: this.state.kind }
    const step = () => stepPod(context, { shutdown, superseded })
    return await this.#passes.count(this.#deps, pass, () => tracePass(tracer, pass, step))
  }

  /** What the pass under way waits for is given up. */
  #end(request: TerminationRequest): void {
    this.#life.end(request)
    if (this.#activity.kind === 'pass') this.#activity.scope.abort(new Error('Pod is terminating'))
    this.wake()
  }

  #createProbing(): PodProbing {
    const { settings, timeline } = this.#deps
    const { runtimeName } = settings
    const subject = { history: this.#life.history, runtimeName, uid: this.uid, timeline }
    return new PodProbing(this.#deps, { ...subject, onChange: () => this.#probesChanged() })
  }

  /** A pass under way may take long, and those who send requests to the pod have to know now whether it is ready. */
  async #probesChanged(): Promise<void> {
    this.wake()
    const pod = withAllocatedResources(this.#deps, this.#life)
    if (this.#activity.kind === 'rest' || pod === undefined) return
    await this.#probing.updateStatus(pod, this.#life.observed(this.#deps.observer), false)
    this.#deps.onStatus(this)
  }

  /** Logs what went wrong and returns when to try again. Only what the runtime did not cause needs the people who run the node. */
  #reportFailure(error: unknown): number {
    const { log, clock } = this.#deps
    const fields = { pod: this.#life.logName, uid: this.uid, step: this.state.kind, error }
    const isNew = isNewFailure(this.#life.history, error, clock)
    if (isNew && !(error instanceof CriCallError)) log.error('pod step failed, will try again', fields)
    else if (isNew) log.warn('runtime failed in a step of a pod, will try again', fields)
    return error instanceof CriCallError && error.code === 'Unavailable' ? RUNTIME_RETRY_MS : FAILURE_RETRY_MS
  }

  #noteStartup(pod: Pod): void {
    const { clock, metrics } = this.#deps
    const start = this.#life.history.startup.noteApi(pod, clock.now())
    if (start !== undefined) metrics.podStartKnown(start)
  }

  #endWait(): void {
    this.#life.history.wait?.abort(new Error('Something about the pod changed'))
  }

  // Asked by its own name: the compiler believes that a state which was another a moment ago still is.
  #isGone(): boolean {
    return this.state.kind === 'gone'
  }
}
