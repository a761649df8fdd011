import { containerHash } from '../../../model/pod/container-hash.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import { allContainers, containerKind, isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeBackOffEnd, crashBackOffKey } from './compute-crash-back-off.ts'
import type { CrashBackOff } from './compute-crash-back-off.ts'
import type { ContainerBackOff, ContainerStart, PodActions } from './pod-actions.ts'

export type NamedStart = Pick<ContainerStart, 'kind' | 'name'>

export interface StartsInput {
  readonly pod: Pod
  readonly observed: ObservedPod
  /** By crashBackOffKey(). */
  readonly backOff: ReadonlyMap<string, CrashBackOff>
  /** On the monotonic clock. */
  readonly now: number
}

/** Parts the starts into those that may happen now and those whose crash back-off still runs. */
export function computeStarts(
  input: StartsInput,
  starts: readonly NamedStart[],
): Pick<PodActions, 'start' | 'backingOff'> {
  const { pod } = input
  const start: ContainerStart[] = []
  const backingOff: ContainerBackOff[] = []
  for (const named of pod.metadata.deletionTimestamp === undefined ? starts : []) {
    const made = computeStart(input, named)
    if ('untilMs' in made) backingOff.push(made)
    else start.push(made)
    // The containers after an init container wait for it; those after a sidecar do not.
    if ('untilMs' in made && named.kind === 'init' && !isSidecarName(pod, named.name)) break
  }
  return { start, backingOff }
}

/** Those of some containers that may start again now after they crashed. */
export function computeDueStarts(input: StartsInput, names: readonly string[]): readonly ContainerStart[] {
  const starts = names.map((name) => computeStart(input, { kind: containerKind(input.pod, name), name }))
  return starts.filter((made): made is ContainerStart => !('untilMs' in made))
}

function computeStart(
  { pod, observed, backOff, now }: StartsInput,
  { kind, name }: NamedStart,
): ContainerStart | ContainerBackOff {
  const container = allContainers(pod).find((one) => one.container.name === name)?.container
  const exited = observed.containers.find((instance) => instance.name === name && hasEnded(instance))
  const entry = container === undefined ? undefined : backOff.get(crashBackOffKey(container))
  // Another image is another try: what the old one did is no reason to wait.
  const isSame = container !== undefined && exited?.hash === containerHash(container)
  const untilMs = exited === undefined || !isSame ? undefined : computeBackOffEnd(entry, exited.endSeenAt, now)
  if (untilMs === undefined) {
    const brokenOff = exited?.state === 'created' ? { isBrokenOff: true } : {}
    return { kind, name, previousEndedAt: exited?.endSeenAt, ...brokenOff }
  }
  return { kind, name, untilMs, delayMs: entry?.delayMs ?? 0 }
}

/** Starts that were broken off may count too: what breaks them off again and again must not become a busy loop. */
function hasEnded({ state, finishedAt }: ObservedContainer): boolean {
  return state === 'exited' || finishedAt > 0
}

function isSidecarName({ spec }: Pod, name: string): boolean {
  return spec.initContainers?.some((container) => container.name === name && isSidecar(container)) === true
}
