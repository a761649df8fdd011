import { containerHash } from '../model/container-hash.ts'
import { hasRunningParts, newestInstance } from '../model/observed-pod.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import { allContainers, isSidecar } from '../model/pod-containers.ts'
import type { Pod } from '../model/pod.ts'
import { mayRestart } from '../model/restart-policy.ts'
import { computeBackOffEnd } from './compute-crash-back-off.ts'
import type { CrashBackOff } from './compute-crash-back-off.ts'
import { computeInitContainerActions, hasInitFailedForGood } from './compute-init-container-actions.ts'
import { computeRegularContainerActions } from './compute-regular-container-actions.ts'
import { computeSandboxChange } from './compute-sandbox-change.ts'
import type { SandboxChange } from './compute-sandbox-change.ts'
import { KILL_TEXTS } from './kill-texts.ts'
import type { ContainerBackOff, ContainerKill, ContainerStart, PodActions } from './pod-actions.ts'
import type { ProbeVerdicts } from './probe-verdicts.ts'

/** Everything the decision depends on; there is no other input. */
export interface PodActionsInput {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly probes: ProbeVerdicts
  /** By container name. */
  readonly backOff: ReadonlyMap<string, CrashBackOff>
  readonly now: number
}

type NamedStart = Pick<ContainerStart, 'kind' | 'name'>

/** What one pass over a pod has to do so that the runtime comes closer to the spec; nothing when it is there. */
export function computePodActions(input: PodActionsInput): PodActions {
  const { pod, observed, probes } = input
  const sandbox = computeSandboxChange(pod, observed)
  if (sandbox.needed) return withNewSandbox(input, sandbox)

  const base = { createSandbox: false, sandboxId: sandbox.sandboxId, attempt: sandbox.attempt }
  const end: PodActions = { ...base, killPod: true, kill: [], start: [], backingOff: [] }
  const init = computeInitContainerActions(pod, observed, probes)
  if (init.killPod) return end
  const surplus = computeSurplus(observed)
  const starts = [...ephemeralStarts(pod, observed), ...init.start.map((name): NamedStart => ({ kind: 'init', name }))]
  if (!init.initialized) {
    return { ...base, killPod: false, kill: [...surplus, ...init.kill], ...splitBackingOff(input, starts) }
  }

  const regular = computeRegularContainerActions(pod, observed, probes)
  if (regular.kept === 0 && regular.start.length === 0) return end
  starts.push(...regular.start.map((name): NamedStart => ({ kind: 'regular', name })))
  return {
    ...base,
    killPod: false,
    kill: [...surplus, ...init.kill, ...regular.kill],
    ...splitBackingOff(input, starts),
  }
}

/** The old sandbox is gone or unusable: stop what is left of it, then begin anew as far as the restart policy allows. */
function withNewSandbox(input: PodActionsInput, sandbox: SandboxChange): PodActions {
  const { pod, observed } = input
  const base = { sandboxId: sandbox.sandboxId, attempt: sandbox.attempt, kill: [] }
  const wanted = pod.spec.containers.filter((container) => {
    const instance = newestInstance(observed, container.name)
    return instance?.state !== 'exited' || mayRestart(pod, container, instance.exitCode)
  })
  if (isOver(pod, observed, sandbox) || wanted.length === 0) {
    // Only what still runs is stopped: a pod of which nothing is left to stop needs no further pass.
    const killPod = hasRunningParts(observed) || observed.containers.some(({ state }) => state === 'unknown')
    return { ...base, killPod, createSandbox: false, start: [], backingOff: [] }
  }
  const [firstInit] = pod.spec.initContainers ?? []
  const starts: NamedStart[] =
    firstInit === undefined
      ? wanted.map(({ name }) => ({ kind: 'regular', name }))
      : [{ kind: 'init', name: firstInit.name }]
  const killPod = observed.sandboxes.length > 0 || observed.containers.length > 0
  return { ...base, killPod, createSandbox: true, ...splitBackingOff(input, starts) }
}

/** The pod gets no further sandbox: it is being deleted, it ran its one time, or it failed for good before it began. */
function isOver(pod: Pod, observed: ObservedPod, { attempt }: SandboxChange): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return true
  if (pod.spec.restartPolicy === 'Never' && attempt !== 0 && observed.containers.length > 0) return true
  return hasInitFailedForGood(pod, observed)
}

function ephemeralStarts(pod: Pod, observed: ObservedPod): NamedStart[] {
  return (pod.spec.ephemeralContainers ?? [])
    .filter(({ name }) => newestInstance(observed, name) === undefined)
    .map(({ name }) => ({ kind: 'ephemeral', name }))
}

/** Instances that run although a newer one of the same container was made: two must never work side by side. */
function computeSurplus(observed: ObservedPod): ContainerKill[] {
  return observed.containers
    .filter(({ id, name, state }) => state === 'running' && newestInstance(observed, name)?.id !== id)
    .map(({ id, name }) => ({ id, name, cause: 'surplus', message: `Container ${name} ${KILL_TEXTS.surplus}` }))
}

/** Parts the starts into those that may happen now and those whose crash back-off still runs. */
function splitBackingOff(
  { pod, observed, backOff, now }: PodActionsInput,
  starts: readonly NamedStart[],
): Pick<PodActions, 'start' | 'backingOff'> {
  const start: ContainerStart[] = []
  const backingOff: ContainerBackOff[] = []
  for (const { kind, name } of pod.metadata.deletionTimestamp === undefined ? starts : []) {
    const container = allContainers(pod).find((one) => one.container.name === name)?.container
    // Starts that were broken off count too: whatever breaks them off again and again must not become a busy loop.
    const exited = observed.containers.find(
      (instance) => instance.name === name && (instance.state === 'exited' || instance.finishedAt > 0),
    )
    const entry = backOff.get(name)
    // Another image is another try: what the old one did is no reason to wait.
    const isSame = container !== undefined && exited?.hash === containerHash(container)
    const untilMs = exited === undefined || !isSame ? undefined : computeBackOffEnd(entry, exited.finishedAt, now)
    if (untilMs === undefined) {
      start.push({ kind, name, previousFinishedAt: exited?.finishedAt })
    } else {
      backingOff.push({ kind, name, untilMs, delayMs: entry?.delayMs ?? 0 })
      // The containers after an init container wait for it; those after a sidecar do not.
      if (kind === 'init' && container !== undefined && !isSidecar(container)) break
    }
  }
  return { start, backingOff }
}
