import { containerHash } from '../model/container-hash.ts'
import type { Container } from '../model/generated/core-v1.ts'
import { newestInstance } from '../model/observed-pod.ts'
import type { ObservedPod } from '../model/observed-pod.ts'
import { isSidecar } from '../model/pod-containers.ts'

import type { Pod } from '../model/pod.ts'
import { effectiveRestartPolicy, mayRestart } from '../model/restart-policy.ts'
import { computeBackOffEnd } from './compute-crash-back-off.ts'
import type { CrashBackOff, CrashBackOffLimits } from './compute-crash-back-off.ts'
import { computeInitContainerActions } from './compute-init-container-actions.ts'
import { computeSandboxChange } from './compute-sandbox-change.ts'
import type { SandboxChange } from './compute-sandbox-change.ts'
import type { ContainerBackOff, ContainerKill, ContainerStart, KillCause, PodActions } from './pod-actions.ts'
import type { ProbeVerdicts } from './probe-verdicts.ts'

/** Everything the decision depends on; there is no other input. */
export interface PodActionsInput {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly probes: ProbeVerdicts
  /** By container name. */
  readonly backOff: ReadonlyMap<string, CrashBackOff>
  readonly backOffLimits: CrashBackOffLimits
  readonly now: number
}

type NamedStart = Pick<ContainerStart, 'kind' | 'name'>

/** What one pass over a pod has to do so that the runtime comes closer to the spec; nothing when it is there. */
export function computePodActions(input: PodActionsInput): PodActions {
  const { pod, observed } = input
  const sandbox = computeSandboxChange(pod, observed)
  if (sandbox.needed) return withNewSandbox(input, sandbox)

  const base = { createSandbox: false, sandboxId: sandbox.sandboxId, attempt: sandbox.attempt }
  const ephemeral = (pod.spec.ephemeralContainers ?? [])
    .filter(({ name }) => newestInstance(observed, name) === undefined)
    .map(({ name }): NamedStart => ({ kind: 'ephemeral', name }))

  const init = computeInitContainerActions(pod, observed, input.probes)
  if (init.killPod) return { ...base, killPod: true, kill: [], start: [], backingOff: [] }
  const initStarts = init.start.map((name): NamedStart => ({ kind: 'init', name }))
  if (!init.initialized) {
    return { ...base, killPod: false, kill: init.kill, ...splitBackingOff(input, [...ephemeral, ...initStarts]) }
  }

  const regular = computeRegularContainers(input)
  if (regular.kept === 0 && regular.start.length === 0) {
    return { ...base, killPod: true, kill: [], start: [], backingOff: [] }
  }
  return {
    ...base,
    killPod: false,
    kill: [...init.kill, ...regular.kill],
    ...splitBackingOff(input, [...ephemeral, ...initStarts, ...regular.start]),
  }
}

/** The old sandbox is gone or unusable: stop what is left of it, then begin anew as far as the restart policy allows. */
function withNewSandbox(input: PodActionsInput, sandbox: SandboxChange): PodActions {
  const { pod, observed } = input
  const killPod = observed.sandboxes.length > 0 || observed.containers.length > 0
  const base = { killPod, sandboxId: sandbox.sandboxId, attempt: sandbox.attempt, kill: [] }
  const nothing: PodActions = { ...base, createSandbox: false, start: [], backingOff: [] }
  if (pod.spec.restartPolicy === 'Never' && sandbox.attempt !== 0 && observed.containers.length > 0) return nothing

  const wanted = pod.spec.containers.filter((container) => {
    const instance = newestInstance(observed, container.name)
    return !(
      instance?.state === 'exited' &&
      instance.exitCode === 0 &&
      effectiveRestartPolicy(pod, container) === 'OnFailure'
    )
  })
  const anyKnown = pod.spec.containers.some(({ name }) => {
    const state = newestInstance(observed, name)?.state
    return state !== undefined && state !== 'unknown'
  })
  if (wanted.length === 0 && anyKnown) return nothing

  const [firstInit] = pod.spec.initContainers ?? []
  const starts: NamedStart[] =
    firstInit === undefined
      ? wanted.map(({ name }) => ({ kind: 'regular', name }))
      : [{ kind: 'init', name: firstInit.name }]
  return { ...base, createSandbox: true, ...splitBackingOff(input, starts) }
}

interface RegularContainers {
  readonly kept: number
  readonly kill: readonly ContainerKill[]
  readonly start: readonly NamedStart[]
}

function computeRegularContainers({ pod, observed, probes }: PodActionsInput): RegularContainers {
  let kept = 0
  const kill: ContainerKill[] = []
  const start: NamedStart[] = []
  for (const container of pod.spec.containers) {
    const instance = newestInstance(observed, container.name)
    if (instance === undefined || instance.state === 'created') {
      start.push({ kind: 'regular', name: container.name })
    } else if (instance.state === 'unknown') {
      const message = `Container is in "unknown" state, try killing it before restart`
      kill.push({ id: instance.id, name: container.name, cause: 'unknown', message })
      start.push({ kind: 'regular', name: container.name })
    } else if (instance.state === 'exited') {
      if (mayRestart(pod, container, instance.exitCode)) start.push({ kind: 'regular', name: container.name })
    } else {
      const cause = killCause(container, instance, probes)
      if (cause === undefined) {
        kept += 1
        continue
      }
      const restart = cause === 'changed' || effectiveRestartPolicy(pod, container) !== 'Never'
      const suffix = restart ? ', will be restarted' : ''
      kill.push({
        id: instance.id,
        name: container.name,
        cause,
        message: `Container ${container.name} ${KILL_TEXTS[cause]}${suffix}`,
      })
      if (restart) start.push({ kind: 'regular', name: container.name })
    }
  }
  return { kept, kill, start }
}

const KILL_TEXTS: Readonly<Record<KillCause, string>> = {
  changed: 'definition changed',
  liveness: 'failed liveness probe',
  startup: 'failed startup probe',
  unknown: 'is in an unknown state',
}

function killCause(
  container: Container,
  instance: { readonly id: string; readonly hash: string },
  probes: ProbeVerdicts,
): KillCause | undefined {
  if (instance.hash !== containerHash(container)) return 'changed'
  if (probes.liveness.get(instance.id) === false) return 'liveness'
  if (probes.startup.get(instance.id) === false) return 'startup'
  return undefined
}

/** Parts the starts into those that may happen now and those whose crash back-off still runs. */
function splitBackingOff(
  input: PodActionsInput,
  starts: readonly NamedStart[],
): Pick<PodActions, 'start' | 'backingOff'> {
  const start: ContainerStart[] = []
  const backingOff: ContainerBackOff[] = []
  let blocked = false
  for (const { kind, name } of starts) {
    if (blocked) break
    // Starts that were broken off count too: whatever breaks them off again and again must not become a busy loop.
    const previousFinishedAt = input.observed.containers.find(
      (instance) => instance.name === name && (instance.state === 'exited' || instance.finishedAt > 0),
    )?.finishedAt
    const entry = input.backOff.get(name)
    const context = { limits: input.backOffLimits, now: input.now }
    const untilMs = previousFinishedAt === undefined ? undefined : computeBackOffEnd(entry, previousFinishedAt, context)
    if (untilMs === undefined) {
      start.push({ kind, name, previousFinishedAt })
    } else {
      backingOff.push({ kind, name, untilMs, delayMs: entry?.delayMs ?? 0 })
      // The containers after an init container wait for it; those after a sidecar do not.
      blocked = kind === 'init' && !isSidecarByName(input.pod, name)
    }
  }
  return { start, backingOff }
}

function isSidecarByName(pod: Pod, name: string): boolean {
  return pod.spec.initContainers?.some((container) => container.name === name && isSidecar(container)) ?? false
}
