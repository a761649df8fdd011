import type { Container } from '../../../model/generated/core-v1.ts'
import { hasRunningParts, newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod, ObservedContainer } from '../../../model/pod/observed-pod.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { restartAllTriggers } from '../../../model/pod/restart-all-triggers.ts'
import { effectiveRestartPolicy, mayRestart } from '../../../model/pod/restart-policy.ts'
import { computeInitContainerActions, hasInitFailedForGood } from './compute-init-container-actions.ts'
import { computeRegularContainerActions } from './compute-regular-container-actions.ts'
import { computeSandboxChange } from './compute-sandbox-change.ts'
import type { SandboxChange } from './compute-sandbox-change.ts'
import { computeDueStarts, computeStarts } from './compute-starts.ts'
import type { NamedStart, StartsInput } from './compute-starts.ts'
import { killText } from '../stop/kill-texts.ts'
import type { ContainerKill, PodActions, ContainerReset, ContainerStart } from './pod-actions.ts'
import type { ProbeVerdicts } from '../probing/probe-verdicts.ts'
import { computeResizeActions, computeResizeRestarts } from '../resize/compute-resize-actions.ts'
import { NO_ACTIONS } from './pod-actions.ts'

/** Everything the decision depends on; there is no other input. */
export interface PodActionsInput extends StartsInput {
  readonly probes: ProbeVerdicts
  /** What was last set for the pod and its containers; undefined when that is unknown. */
  readonly actuated: PodAllocation | undefined
  /** The ids of containers whose postStart hook failed and whose stop an earlier agent did not finish. */
  readonly failedStarts: ReadonlySet<string>
}

/** What one pass over a pod has to do so that the runtime comes closer to the spec; nothing when it is there. */
export function computePodActions(input: PodActionsInput): PodActions {
  const actions = computeLifeActions(input)
  if (actions.reset !== undefined || (actions.killPod && !actions.createSandbox)) return actions
  return { ...actions, resize: computeResizeActions(input, actions) }
}

function computeLifeActions(input: PodActionsInput): PodActions {
  const { pod, observed, probes } = input
  const judged = { probes, resized: computeResizeRestarts(input), failedStarts: input.failedStarts }
  const sandbox = computeSandboxChange(pod, observed)
  if (sandbox.needed) return withNewSandbox(input, sandbox)

  const { sandboxId, attempt } = sandbox
  const base: PodActions = { ...NO_ACTIONS, sandboxId, attempt }
  const triggers = computeDueStarts(input, restartAllTriggers(pod, observed))
  if (triggers.length > 0) return { ...base, reset: computeContainerReset(pod, observed, triggers) }
  const end: PodActions = { ...base, killPod: true }
  const init = computeInitContainerActions(pod, observed, judged)
  if (init.killPod) return end
  const superseded = computeSupersededKills(observed)
  const starts = [...ephemeralStarts(pod, observed), ...init.start.map((name): NamedStart => ({ kind: 'init', name }))]
  if (!init.initialized) {
    return { ...base, kill: [...superseded, ...init.kill], ...computeStarts(input, starts) }
  }

  const regular = computeRegularContainerActions(pod, observed, judged)
  if (regular.kept === 0 && regular.start.length === 0) return end
  starts.push(...regular.start.map((name): NamedStart => ({ kind: 'regular', name })))
  return {
    ...base,
    kill: [...superseded, ...init.kill, ...regular.kill],
    ...computeStarts(input, starts),
  }
}

/** The old sandbox is gone or unusable: stop what is left of it, then start again as far as the restart policy allows. */
function withNewSandbox(input: PodActionsInput, sandbox: SandboxChange): PodActions {
  const { pod, observed } = input
  const { sandboxId, attempt } = sandbox
  const base: PodActions = { ...NO_ACTIONS, sandboxId, attempt }
  const wanted = pod.spec.containers.filter((container) => startsAgain(pod, container, observed))
  if (isTerminal(pod, observed, sandbox) || wanted.length === 0) {
    // Only what still runs is stopped: a pod of which nothing is left to stop needs no further pass.
    const killPod = hasRunningParts(observed) || observed.containers.some(({ state }) => state === 'unknown')
    return { ...base, killPod, ended: !killPod }
  }
  const [firstInit] = pod.spec.initContainers ?? []
  const starts: NamedStart[] =
    firstInit === undefined
      ? wanted.map(({ name }) => ({ kind: 'regular', name }))
      : [{ kind: 'init', name: firstInit.name }]
  const killPod = observed.sandboxes.length > 0 || observed.containers.length > 0
  return { ...base, killPod, createSandbox: true, ...computeStarts(input, starts) }
}

/** Does a regular container start in the new sandbox? One that runs in the old one is about to be stopped. */
function startsAgain(pod: Pod, container: Container, observed: ObservedPod): boolean {
  const instance = newestInstance(observed, container.name)
  if (instance === undefined || instance.state === 'created') return true
  if (instance.state === 'exited') return mayRestart(pod, container, instance.exitCode)
  return pod.spec.restartPolicy !== 'Never' || effectiveRestartPolicy(pod, container) !== 'Never'
}

/** The pod gets no further sandbox: it is being deleted, it ran its one time, or it failed for good before it began. */
function isTerminal(pod: Pod, observed: ObservedPod, { attempt }: SandboxChange): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return true
  if (pod.spec.restartPolicy === 'Never' && attempt !== 0 && observed.containers.length > 0) {
    // What has a policy of its own goes on by that.
    const goesOn = (container: Container) =>
      newestInstance(observed, container.name) === undefined
        ? (container.restartPolicy ?? 'Never') !== 'Never'
        : container.restartPolicy !== undefined && startsAgain(pod, container, observed)
    if (!pod.spec.containers.some(goesOn)) return true
  }
  return hasInitFailedForGood(pod, observed)
}

function ephemeralStarts(pod: Pod, observed: ObservedPod): NamedStart[] {
  return (pod.spec.ephemeralContainers ?? [])
    .filter(({ name }) => newestInstance(observed, name) === undefined)
    .map(({ name }) => ({ kind: 'ephemeral', name }))
}

/** Instances that run although a newer one of the same container was made: two must never work side by side. */
function computeSupersededKills(observed: ObservedPod): ContainerKill[] {
  return observed.containers
    .filter(({ id, name, state }) => state === 'running' && newestInstance(observed, name)?.id !== id)
    .map(({ id, name }) => ({ id, name, cause: 'surplus', message: killText({ what: 'Container', name }, 'surplus') }))
}

/**
 * What has to go so that all containers of a pod restart: the others first and the newest instances of those that asked for it last.
 * When this is broken off in between, what is left still asks for it. Containers for debugging stay.
 */
function computeContainerReset(
  { spec }: Pod,
  observed: ObservedPod,
  triggers: readonly ContainerStart[],
): ContainerReset {
  const asked = (name: string) => triggers.some((trigger) => trigger.name === name)
  const regular = new Set(spec.containers.map(({ name }) => name))
  const init = new Set((spec.initContainers ?? []).map(({ name }) => name))
  const isNewest = ({ id, name }: ObservedContainer) => newestInstance(observed, name)?.id === id
  const groups = [
    observed.containers.filter(({ name }) => regular.has(name) && !asked(name)),
    observed.containers.filter(({ name }) => init.has(name) && !asked(name)),
    observed.containers.filter((instance) => asked(instance.name) && !isNewest(instance)),
    observed.containers.filter((instance) => asked(instance.name) && isNewest(instance)),
  ]
  return { triggers, groups: groups.filter((group) => group.length > 0) }
}
