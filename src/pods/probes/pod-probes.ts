import { AbortScope } from '../../base/async/abort-scope.ts'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { newestInstance } from '../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { podLogName } from '../../model/pod/pod.ts'
import { ContainerProbe } from './container-probe.ts'
import type { ProbeSubject, ProbeSurroundings } from './container-probe.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { formatProbeNote, parseProbeNote } from './probe-note.ts'
import type { ProbeNote } from './probe-note.ts'
import type { ProbeAnswer, ProbeType } from './probe-outcome.ts'

/** What the probes of a pod see of it, and where they report. */
export interface PodProbesSubject {
  readonly observed: () => ObservedPod | undefined
  readonly podIp: () => string
  readonly onAnswer: (answer: ProbeAnswer) => void
  /** Something that is reported about the pod, or has to be done about it, changed. */
  readonly onChange: () => Promise<void>
}

interface Running {
  readonly probe: ContainerProbe
  readonly scope: AbortScope
}

// What holds before the first answer.
const INITIAL: Readonly<Record<ProbeType, boolean | undefined>> = {
  startup: undefined,
  readiness: false,
  liveness: true,
}

/** All probes of one pod. They begin with the first pass over it and end with the pod; of a pod without probes there is nothing. */
export class PodProbes implements AsyncDisposable {
  readonly #deps: ProbeDeps
  readonly #subject: PodProbesSubject
  readonly #results: Readonly<Record<ProbeType, Map<string, boolean>>> = {
    startup: new Map(),
    readiness: new Map(),
    liveness: new Map(),
  }
  #running: readonly Running[] | undefined
  #group: TaskGroup | undefined
  #noted = ''

  constructor(deps: ProbeDeps, subject: PodProbesSubject) {
    this.#deps = deps
    this.#subject = subject
  }

  /** By container id: what the decisions about a pod need. A missing id has no word yet. */
  get verdicts(): { readonly liveness: ReadonlyMap<string, boolean>; readonly startup: ReadonlyMap<string, boolean> } {
    return this.#results
  }

  /** Before each pass over the pod: starts what has to run, forgets instances that are gone, asks again where an answer is needed. */
  async sync(pod: Pod, observed: ObservedPod | undefined, signal: AbortSignal): Promise<void> {
    if (this.#running === undefined) await this.#begin(pod, signal)
    const known = new Set(observed?.containers.map(({ id }) => id))
    for (const results of Object.values(this.#results))
      for (const id of results.keys()) if (!known.has(id)) results.delete(id)
    for (const { probe } of this.#running ?? []) {
      const { type, container } = probe.subject
      const instance = observed === undefined ? undefined : newestInstance(observed, container.name)
      const waits = type === 'readiness' && instance?.state === 'running' && this.#hasStarted(container, instance.id)
      if (waits && this.#results.readiness.get(instance.id) !== true) probe.retryNow()
      else probe.refresh()
    }
  }

  /** What the runtime has of the pod changed. */
  refresh(): void {
    for (const { probe } of this.#running ?? []) probe.refresh()
  }

  /** By container id, for those that are probed: what the status of the pod says. */
  status(pod: Pod, observed: ObservedPod): Record<'started' | 'ready', ReadonlyMap<string, boolean>> {
    const started = new Map<string, boolean>()
    const ready = new Map<string, boolean>()
    for (const { container, instance } of instances(pod, observed)) {
      if (container.startupProbe !== undefined)
        started.set(instance.id, this.#results.startup.get(instance.id) === true)
      if (container.readinessProbe !== undefined)
        ready.set(instance.id, this.#results.readiness.get(instance.id) === true)
    }
    return { started, ready }
  }

  /** Keeps for the next agent what is true now. Without it that agent would have to ask first, and the pod would not be ready meanwhile. */
  async remember(pod: Pod, observed: ObservedPod): Promise<void> {
    if (this.#running === undefined || this.#running.length === 0) return
    const { started, ready } = this.status(pod, observed)
    const ids = [...new Set([...started.keys(), ...ready.keys()])]
    const worthIt = ids.filter((id) => started.get(id) === true || ready.get(id) === true)
    const text = formatProbeNote(
      new Map(worthIt.map((id) => [id, { started: started.get(id) ?? true, ready: ready.get(id) ?? true }])),
    )
    if (text === this.#noted || (worthIt.length === 0 && this.#noted === '')) return
    this.#noted = text
    try {
      await this.#deps.notes.write(pod.metadata.uid, text)
    } catch (error) {
      const { uid } = pod.metadata
      this.#deps.log.warn('cannot note what probes say, a restart of the agent would forget it', {
        pod: podLogName(pod),
        uid,
        error,
      })
    }
  }

  /** The pod is being stopped: its containers are not restarted any more. Readiness, and sidecars, matter to the end. */
  endRegular(): void {
    for (const { probe, scope } of this.#running ?? []) {
      const { kind, type } = probe.subject
      if (kind === 'regular' && type !== 'readiness') scope.abort(new Error('Pod is terminating'))
    }
  }

  /** Ends all probes, and waits for that. May be called again. */
  async end(): Promise<void> {
    const group = this.#group
    this.#group = undefined
    this.#running = []
    await group?.[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }

  async #begin(pod: Pod, signal: AbortSignal): Promise<void> {
    const subjects = probesOf(pod)
    // First: when it fails, the next pass begins with it again.
    if (subjects.length > 0 && this.#deps.forgetsOnRestart !== true) await this.#recall(pod)
    this.#running = []
    if (subjects.length === 0) return
    const group = new TaskGroup(signal)
    this.#group = group
    this.#running = subjects.map((subject) => {
      const probe = new ContainerProbe(this.#deps, subject, this.#surroundings(subject))
      const scope = new AbortScope(group.signal)
      const { container, type } = subject
      group.run(`${type} probe of ${container.name}`, () => this.#run(probe, scope))
      return { probe, scope }
    })
  }

  /** Runs one probe. What breaks in it concerns its pod alone: it is logged, and started again after a period. */
  async #run(probe: ContainerProbe, scope: AbortScope): Promise<void> {
    const { clock, log } = this.#deps
    const { pod, container, type } = probe.subject
    using _ = scope
    while (!scope.signal.aborted) {
      try {
        await probe.run(scope.signal)
      } catch (error) {
        if (scope.signal.aborted) return
        log.error('probe broke, will begin again', { pod: podLogName(pod), container: container.name, type, error })
        await clock.sleep((probe.subject.probe.periodSeconds ?? 10) * 1000, scope.signal).catch(() => {})
      }
    }
  }

  #surroundings({ container }: ProbeSubject): ProbeSurroundings {
    return {
      observed: this.#subject.observed,
      podIp: this.#subject.podIp,
      onAnswer: this.#subject.onAnswer,
      hasStarted: (id) => this.#hasStarted(container, id),
      report: async (type, id, verdict) => {
        const before = this.#results[type].get(id) ?? INITIAL[type]
        this.#results[type].set(id, verdict)
        if (before === verdict) return
        // Those that waited for the start begin now.
        if (type === 'startup') this.refresh()
        await this.#subject.onChange()
      },
    }
  }

  #hasStarted({ startupProbe }: Container, id: string): boolean {
    return startupProbe === undefined || this.#results.startup.get(id) === true
  }

  /** What an earlier agent noted; else what it reported to the API. */
  async #recall(pod: Pod): Promise<void> {
    const note = new Map([...reportedNote(pod), ...(await this.#readNote(pod))])
    for (const [id, { started, ready }] of note) {
      if (started) this.#results.startup.set(id, true)
      if (ready) this.#results.readiness.set(id, true)
    }
  }

  async #readNote(pod: Pod): Promise<ProbeNote> {
    const { notes, log } = this.#deps
    const { uid } = pod.metadata
    try {
      const text = await notes.read(uid)
      return text === undefined ? new Map() : parseProbeNote(text)
    } catch (error) {
      throwIfTransient(error)
      log.warn('cannot read what was noted about probes, setting it aside', { pod: podLogName(pod), uid, error })
      await notes.setAside(uid).catch(() => {})
      return new Map()
    }
  }
}

function reportedNote({ status }: Pod): ProbeNote {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return new Map(
    statuses.map(({ containerID = '', started = false, ready }) => [
      containerID.slice(containerID.indexOf('://') + 3),
      { started, ready },
    ]),
  )
}

/** Regular containers and sidecars: what ends by itself, or is there for debugging, is never probed. */
function candidates(pod: Pod): { readonly kind: 'init' | 'regular'; readonly container: Container }[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar)
  return [
    ...sidecars.map((container) => ({ kind: 'init' as const, container })),
    ...pod.spec.containers.map((container) => ({ kind: 'regular' as const, container })),
  ]
}

function probesOf(pod: Pod): ProbeSubject[] {
  return candidates(pod).flatMap(({ kind, container }) => {
    const probes = [
      ['startup', container.startupProbe],
      ['readiness', container.readinessProbe],
      ['liveness', container.livenessProbe],
    ] as const
    return probes.flatMap(([type, probe]) => (probe === undefined ? [] : [{ pod, kind, container, type, probe }]))
  })
}

function instances(
  pod: Pod,
  observed: ObservedPod,
): { readonly container: Container; readonly instance: ObservedContainer }[] {
  return candidates(pod).flatMap(({ container }) => {
    const instance = newestInstance(observed, container.name)
    return instance === undefined ? [] : [{ container, instance }]
  })
}
