import type { Container, ContainerStateTerminated, ContainerStatus } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { initExitCode, mayRestart } from '../../model/pod/restart-policy.ts'
import { RESTARTING_ALL } from './status-input.ts'

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

/** True for a phase that no pod ever leaves. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

export interface PhaseInput {
  readonly pod: Pod
  readonly init: readonly ContainerStatus[]
  readonly regular: readonly ContainerStatus[]
  /** A regular container exists in the sandbox that is in use. */
  readonly regularInSandbox: boolean
  /** The pod's containers were stopped for good. */
  readonly ended: boolean
}

/** The one word about the whole pod. */
export function computePhase(input: PhaseInput): PodPhase {
  const init = countInit(input)
  const regular = countRegular(input)
  const running = regular.running + init.running
  const waiting = regular.waiting + init.waiting
  const unknown = regular.unknown + init.unknown
  if (init.failed > 0) return 'Failed'
  if (init.pending > 0 || (init.pendingSidecars > 0 && !input.regularInSandbox)) return 'Pending'
  if (waiting > 0) return 'Pending'
  if (running > 0 && unknown === 0) return 'Running'
  if (running === 0 && regular.stopped > 0 && unknown === 0) {
    const outcome = regular.stopped === regular.succeeded ? 'Succeeded' : 'Failed'
    if (input.ended && !isStaticPod(input.pod)) return outcome
    return regular.stopped > regular.final ? 'Running' : outcome
  }
  return 'Pending'
}

/** The end of a container that does not run now but did. */
function endOf({ state, lastState }: ContainerStatus): ContainerStateTerminated | undefined {
  return state?.waiting === undefined ? state?.terminated : lastState?.terminated
}

/** It was removed to restart with all others: how it ended says nothing about what comes. */
function isReset({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting !== undefined && lastState?.terminated?.reason === RESTARTING_ALL
}

function countInit({ pod, init }: PhaseInput) {
  const counts = { pending: 0, failed: 0, pendingSidecars: 0, running: 0, waiting: 0, unknown: 0 }
  for (const container of pod.spec.initContainers ?? []) {
    const status = init.find(({ name }) => name === container.name)
    const end = status === undefined ? undefined : endOf(status)
    if (isSidecar(container)) {
      if (status === undefined) counts.unknown += 1
      else if (status.state?.running !== undefined) {
        counts.running += 1
        if (status.started !== true) counts.pendingSidecars += 1
      } else if (end === undefined) {
        counts.waiting += 1
        counts.pendingSidecars += 1
      }
    } else if (status === undefined || end === undefined) counts.pending += 1
    else if (!isReset(status) && failedForGood(pod, container, initExitCode(end))) counts.failed += 1
  }
  return counts
}

function failedForGood(pod: Pod, container: Container, exitCode: number): boolean {
  return exitCode !== 0 && !mayRestart(pod, container, exitCode)
}

function countRegular({ pod, regular }: PhaseInput) {
  const counts = { running: 0, stopped: 0, succeeded: 0, final: 0, waiting: 0, unknown: 0 }
  for (const container of pod.spec.containers) {
    const status = regular.find(({ name }) => name === container.name)
    const end = status === undefined ? undefined : endOf(status)
    if (status === undefined) counts.unknown += 1
    else if (status.state?.running !== undefined) counts.running += 1
    else if (end === undefined) counts.waiting += 1
    else {
      counts.stopped += 1
      if (status.state?.terminated?.exitCode === 0) counts.succeeded += 1
      if (!isReset(status) && !mayRestart(pod, container, end.exitCode)) counts.final += 1
    }
  }
  return counts
}
