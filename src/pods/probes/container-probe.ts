import { Wakeup } from '../../base/async/wakeup.ts'
import type { Container, Probe } from '../../model/generated/core-v1.ts'
import { newestInstance } from '../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../model/pod/observed-pod.ts'
import { containerFieldPath } from '../../model/pod/pod-containers.ts'
import type { ContainerKind } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeProbeResult } from './compute-probe-result.ts'
import type { ProbeStreak } from './compute-probe-result.ts'
import { computeNextRun, computeProbeSchedule, createProbeSchedule } from './compute-probe-schedule.ts'
import type { ProbeSchedule } from './compute-probe-schedule.ts'
import type { ProbeDeps, ProbeIdentity } from './probe-deps.ts'
import type { ProbeAnswer, ProbeOutcome, ProbeType } from './probe-outcome.ts'

/** One probe of one container, as the spec has it. */
export interface ProbeSubject {
  readonly pod: Pod
  readonly kind: ContainerKind
  readonly container: Container
  readonly type: ProbeType
  readonly probe: Probe
}

/** What a probe sees of its pod, and where it reports; read again for each run. */
export interface ProbeSurroundings {
  observed(): ObservedPod | undefined
  podIp(): string
  /** The container has no startup probe, or that one has said yes. */
  hasStarted(containerId: string): boolean
  /** Each answer that counts. */
  onAnswer(answer: ProbeAnswer): void
  /** What is now held to be true of an instance. */
  report(type: ProbeType, containerId: string, verdict: boolean): Promise<void>
}

const TYPE_WORDS: Readonly<Record<ProbeType, string>> = {
  startup: 'Startup',
  readiness: 'Readiness',
  liveness: 'Liveness',
}
const RESULT_WORDS = { success: 'successful', warning: 'successful', failure: 'failed', error: 'unknown' } as const

/** Asks one container one question, again and again, over all its instances. It never acts: it only reports. */
export class ContainerProbe {
  readonly subject: ProbeSubject
  readonly #deps: ProbeDeps
  readonly #around: ProbeSurroundings
  readonly #wakeup = new Wakeup()
  readonly #periodMs: number
  #schedule: ProbeSchedule
  #streak: ProbeStreak | undefined

  constructor(deps: ProbeDeps, subject: ProbeSubject, around: ProbeSurroundings) {
    this.subject = subject
    this.#deps = deps
    this.#around = around
    this.#periodMs = Math.max(1, subject.probe.periodSeconds ?? 10) * 1000
    this.#schedule = createProbeSchedule({
      now: deps.clock.monotonic(),
      agentStartedAt: deps.agentStartedAt,
      periodMs: this.#periodMs,
      chance: deps.random(),
    })
  }

  /** Something changed that decides when to ask. */
  refresh(): void {
    this.#wakeup.wake()
  }

  /** The answer is needed now. */
  retryNow(): void {
    this.#schedule = { ...this.#schedule, soon: true }
    this.#wakeup.wake()
  }

  /** Asks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onEnded } = this.#deps
    try {
      for (;;) {
        const instance = this.#adapt()
        const dueAt = computeNextRun(this.#schedule, this.#periodMs)
        const ms = dueAt === undefined ? undefined : dueAt - clock.monotonic()
        if (instance === undefined || ms === undefined || ms > 0) await this.#wakeup.wait({ clock, ms }, signal)
        else await this.#ask(instance, signal)
      }
    } finally {
      onEnded(this.#identity)
    }
  }

  get #identity(): ProbeIdentity {
    const { pod, container, type } = this.subject
    return { pod, container: container.name, type }
  }

  /** Takes in what is true of the container now; gives the instance when it runs. */
  #adapt(): ObservedContainer | undefined {
    const now = this.#deps.clock.monotonic()
    const { container, type, probe } = this.subject
    const observed = this.#around.observed()
    const newest = observed === undefined ? undefined : newestInstance(observed, container.name)
    const instance = newest?.state === 'running' ? newest : undefined
    if (instance !== undefined && instance.id !== this.#schedule.containerId) this.#streak = undefined
    this.#schedule = computeProbeSchedule(
      this.#schedule,
      {
        containerId: instance?.id,
        ranMs: instance === undefined ? 0 : now - instance.runsSince,
        started: instance !== undefined && this.#around.hasStarted(instance.id),
      },
      { type, initialDelayMs: (probe.initialDelaySeconds ?? 0) * 1000, now },
    )
    return instance
  }

  async #ask(instance: ObservedContainer, signal: AbortSignal): Promise<void> {
    const { clock, onRun, runProbe } = this.#deps
    const { probe, container, type } = this.subject
    const { soon } = this.#schedule
    const startedAt = clock.monotonic()
    this.#schedule = { ...this.#schedule, soon: false }
    const request = { probe, container, containerId: instance.id, podIp: this.#around.podIp() }
    const outcome = await runProbe(request, signal)
    const endedAt = clock.monotonic()
    onRun({ ...this.#identity, result: RESULT_WORDS[outcome.result], seconds: (endedAt - startedAt) / 1000 })
    const ticksFrom = soon && type === 'readiness' ? startedAt : this.#schedule.ticksFrom
    this.#schedule = { ...this.#schedule, ticksFrom, lastRunAt: startedAt, notBefore: endedAt }
    const failed = outcome.result === 'failure' || outcome.result === 'error'
    // A run before the first tick can only succeed; and what has ended says nothing any more.
    if (failed && ((soon && type === 'startup') || !this.#stillRuns(instance.id))) return
    this.#reportUsers(outcome)
    const ms = endedAt - startedAt
    this.#around.onAnswer({ type, container: container.name, containerId: instance.id, outcome, ms })
    if (outcome.result !== 'error') await this.#count(instance.id, outcome.result !== 'failure')
  }

  async #count(containerId: string, success: boolean): Promise<void> {
    const { type, probe } = this.subject
    const { successThreshold = 1, failureThreshold = 3 } = probe
    const { streak, verdict } = computeProbeResult(this.#streak, success, { successThreshold, failureThreshold })
    this.#streak = streak
    if (verdict === undefined) return
    // After this the container is started, or it is restarted: nothing is left to ask of this instance.
    const held = type === 'startup' || (type === 'liveness' && !verdict)
    this.#schedule = { ...this.#schedule, held }
    await this.#around.report(type, containerId, verdict)
  }

  #stillRuns(containerId: string): boolean {
    return (
      this.#around.observed()?.containers.some(({ id, state }) => id === containerId && state === 'running') === true
    )
  }

  #reportUsers(outcome: ProbeOutcome): void {
    const { pod, kind, container, type } = this.subject
    const word = TYPE_WORDS[type]
    const fieldPath = containerFieldPath(kind, container.name)
    const warn = (reason: string, message: string) =>
      this.#deps.events.record(pod, { type: 'Warning', reason, message, fieldPath })
    switch (outcome.result) {
      case 'success':
        return
      case 'warning':
        return warn('ProbeWarning', `${word} probe warning: ${outcome.output}`)
      case 'failure':
        return warn('Unhealthy', `${word} probe failed: ${outcome.output}`)
      case 'error':
        return warn('Unhealthy', `${word} probe errored and resulted in ${outcome.state} state: ${outcome.output}`)
    }
  }
}
