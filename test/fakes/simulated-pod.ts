import { newestInstance } from '../../src/model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../src/model/pod/observed-pod.ts'
import { allContainers, isSidecar } from '../../src/model/pod/pod-containers.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import {
  computeNextBackOff,
  crashBackOffKey,
  crashBackOffLimits,
} from '../../src/pods/sync/decide/compute-crash-back-off.ts'
import type { CrashBackOff } from '../../src/pods/sync/decide/compute-crash-back-off.ts'
import type { ContainerReset, ContainerStart, PodActions } from '../../src/pods/sync/decide/pod-actions.ts'
import { createInstance, createObservedSandbox } from '../builders/create-observed-pod.ts'

/** How the coming instances of a container end, one after the other; those after the last one run on, or end well if they are init. */
export type Endings = Readonly<Record<string, readonly number[]>>

/** One pod on a runtime that does what it is asked, at once and without fail. */
export class SimulatedPod {
  readonly backOffLimits = crashBackOffLimits(300_000)
  readonly backOff = new Map<string, CrashBackOff>()
  /** Names of all containers that were started, in order. */
  readonly started: string[] = []
  now = 1_000_000
  observed: ObservedPod
  readonly #pod: Pod
  readonly #endings: Map<string, number[]>

  constructor(pod: Pod, observed: ObservedPod, endings: Endings) {
    this.#pod = pod
    this.observed = observed
    this.#endings = new Map(Object.entries(endings).map(([name, codes]) => [name, [...codes]]))
  }

  apply(actions: PodActions): void {
    this.now += 1
    if (actions.killPod) {
      this.#change(({ state }) => state === 'running' || state === 'unknown', 137)
      this.observed = { ...this.observed, sandboxes: this.observed.sandboxes.map((one) => ({ ...one, ready: false })) }
    }
    if (actions.reset !== undefined) this.#reset(actions.reset)
    for (const { id } of actions.kill) this.#change((container) => container.id === id, 137)
    if (actions.createSandbox) this.#createSandbox(actions.attempt)
    for (const start of actions.start) {
      this.#remember(start)
      this.#start(start.name)
    }
  }

  /** Init containers that run come to their end. False when there are none. */
  finishInit(): boolean {
    const names = new Set(
      (this.#pod.spec.initContainers ?? []).filter((one) => !isSidecar(one)).map(({ name }) => name),
    )
    const before = this.observed
    this.#change(({ name, state }) => state === 'running' && names.has(name), 0)
    return this.observed.containers.some((container, index) => container !== before.containers[index])
  }

  #remember({ name, previousEndedAt }: ContainerStart): void {
    const container = allContainers(this.#pod).find((podContainer) => podContainer.container.name === name)?.container
    if (previousEndedAt === undefined || container === undefined) return
    const key = crashBackOffKey(container)
    const context = { limits: this.backOffLimits, now: this.now }
    this.backOff.set(key, computeNextBackOff(this.backOff.get(key), previousEndedAt, context))
  }

  #reset({ triggers, groups }: ContainerReset): void {
    for (const trigger of triggers) this.#remember(trigger)
    const gone = new Set(groups.flat().map(({ id }) => id))
    this.observed = { ...this.observed, containers: this.observed.containers.filter(({ id }) => !gone.has(id)) }
  }

  #createSandbox(attempt: number): void {
    const initNames = new Set((this.#pod.spec.initContainers ?? []).map(({ name }) => name))
    this.observed = {
      ...this.observed,
      sandboxes: [createObservedSandbox({ id: `s${attempt}`, attempt }), ...this.observed.sandboxes],
      containers: this.observed.containers.filter(({ name }) => !initNames.has(name)),
    }
  }

  #start(name: string): void {
    this.started.push(name)
    this.now += 1
    const newest = newestInstance(this.observed, name)
    const others = this.observed.containers.filter(({ id, state }) => id !== newest?.id || state !== 'created')
    const exitCode = this.#endings.get(name)?.shift()
    const made = createInstance({
      id: `${name}-at-${this.now}`,
      name,
      restartCount: (newest?.restartCount ?? -1) + 1,
      sandboxId: this.observed.sandboxes[0]?.id ?? '',
      createdAt: this.now,
      state: exitCode === undefined ? 'running' : 'exited',
      exitCode: exitCode ?? 0,
      finishedAt: this.now,
    })
    this.observed = { ...this.observed, containers: [made, ...others] }
  }

  #change(which: (container: ObservedContainer) => boolean, exitCode: number): void {
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    const containers = this.observed.containers.map((container) =>
      which(container)
        ? { ...container, state: 'exited' as const, exitCode, reason, finishedAt: this.now, endSeenAt: this.now }
        : container,
    )
    this.observed = { ...this.observed, containers }
  }
}
