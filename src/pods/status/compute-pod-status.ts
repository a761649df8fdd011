import type { ContainerStatus, Int64, PodCondition, PodStatus } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { restartAllTriggers } from '../../model/pod/restart-all-triggers.ts'
import { computeConditions, DISRUPTION_TARGET, isOwnCondition } from './compute-conditions.ts'
import { computeContainerStatuses } from './compute-container-statuses.ts'
import { computePhase, isTerminalPhase } from './compute-phase.ts'
import type { PodPhase } from './compute-phase.ts'
import { computePodResources } from './compute-pod-resources.ts'
import { computeTerminatedStatuses } from './compute-terminated-statuses.ts'
import { shareTerminationMessages } from './compute-termination-message.ts'
import { computeHostIps, computePodIps } from './compute-pod-ips.ts'
import type { StatusInput } from './status-input.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { largestOf } from '../../model/text/int64.ts'

/** The whole status of a pod from what is wanted, what is observed and what was said before. Total: there is always an answer. */
export function computePodStatus(given: StatusInput): PodStatus {
  const { pod, observed } = given
  const previous = given.previous ?? pod.status
  const input = { ...given, previous }
  const regular = computeContainerStatuses(input, 'regular', pod.spec.containers)
  const init = computeContainerStatuses(input, 'init', pod.spec.initContainers ?? [])
  const ephemeral = computeContainerStatuses(input, 'ephemeral', pod.spec.ephemeralContainers ?? [])
  const [sandbox] = observed.sandboxes
  const regularInSandbox = hasRegularInSandbox(pod, observed)
  const verdict = computeVerdict(input, computePhase({ pod, init, regular, regularInSandbox, ended: input.ended }))
  // A spec that comes late never takes it back.
  const observedGeneration = largestOf([pod.metadata.generation, previous?.observedGeneration])
  const said = knownConditions(pod, previous)
  const conditions = computeConditions({
    pod,
    phase: verdict.phase,
    init,
    regular,
    sandboxUsable: isSandboxUsable(pod, observed),
    reportsSandbox: input.reportsSandbox,
    restartsAll: restartAllTriggers(pod, observed).length > 0,
    resize: input.resize,
    previous: said,
    observedGeneration,
    now: input.now,
  })
  const initialized = conditions.some(({ type, status }) => type === 'Initialized' && status === 'True')
  const last = input.ended ? computeTerminatedStatuses({ init, regular, initialized }) : { init, regular }
  const share = (statuses: readonly ContainerStatus[]) => shareTerminationMessages(statuses, allContainers(pod).length)
  return {
    ...untouched(pod),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    phase: verdict.phase,
    conditions: withDisruption(input, conditions, observedGeneration),
    ...(verdict.message === undefined ? {} : { message: verdict.message }),
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    ...computeHostIps(input.nodeIps),
    ...computePodIps({
      hostNetwork: pod.spec.hostNetwork === true,
      sandboxIps: sandbox?.ready === true ? (sandbox.ips ?? []) : [],
      nodeIps: input.nodeIps,
      known: previous,
    }),
    ...computePodResources(pod, verdict.phase === 'Running' ? input.actuated : undefined),
    startTime: previous?.startTime ?? pod.status?.startTime ?? toApiTime(input.now),
    ...(init.length === 0 ? {} : { initContainerStatuses: share(last.init) }),
    containerStatuses: share(last.regular),
    qosClass: pod.status?.qosClass ?? previous?.qosClass ?? input.qosClass,
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: share(ephemeral) }),
  }
}

/** Others write their conditions to the API, so those are newest there; our own are newest in what was said here. */
function knownConditions(pod: Pod, previous: PodStatus | undefined): readonly PodCondition[] {
  const said = previous?.conditions ?? []
  const reported = pod.status?.conditions
  if (reported === undefined) return said
  const ours = said.filter(
    ({ type }) => isOwnCondition(type) || (type === DISRUPTION_TARGET && !reported.some((each) => each.type === type)),
  )
  return [...ours, ...reported]
}

/** Adds DisruptionTarget, unless it is set already: other components set it too, and the first cause stays. */
function withDisruption(
  { override, previous, now }: StatusInput,
  conditions: readonly PodCondition[],
  observedGeneration: Int64 | undefined,
): readonly PodCondition[] {
  const message = override?.disruption
  if (message === undefined || conditions.some(({ type, status }) => type === DISRUPTION_TARGET && status === 'True'))
    return conditions
  const old = previous?.conditions?.find(({ type }) => type === DISRUPTION_TARGET)
  const lastTransitionTime = (old?.status === 'True' ? old.lastTransitionTime : undefined) ?? toApiTime(now)
  const reported = {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime,
  }
  return [...conditions.filter(({ type }) => type !== DISRUPTION_TARGET), reported]
}

/** What the API holds of a pod's status and the node has no say in. */
function untouched({ status }: Pod): PodStatus {
  const {
    extendedResourceClaimStatus,
    nodeAllocatableResourceClaimStatuses,
    nominatedNodeName,
    resourceClaimStatuses,
  } = status ?? {}
  return {
    ...(extendedResourceClaimStatus === undefined ? {} : { extendedResourceClaimStatus }),
    ...(nodeAllocatableResourceClaimStatuses === undefined ? {} : { nodeAllocatableResourceClaimStatuses }),
    ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }),
    ...(resourceClaimStatuses === undefined ? {} : { resourceClaimStatuses }),
  }
}

/** The pod has the one sandbox that it asks for, and a way to be reached in it. */
function isSandboxUsable(pod: Pod, { sandboxes }: ObservedPod): boolean {
  const [newest] = sandboxes
  if (newest?.ready !== true || sandboxes.filter(({ ready }) => ready).length > 1) return false
  const hostNetwork = pod.spec.hostNetwork === true
  return newest.hostNetwork === hostNetwork && (hostNetwork || newest.ips?.length !== 0)
}

function hasRegularInSandbox(pod: Pod, { sandboxes, containers }: ObservedPod): boolean {
  const [newest] = sandboxes
  return containers.some(
    ({ name, sandboxId }) =>
      newest?.ready === true &&
      sandboxId === newest.id &&
      pod.spec.containers.some((container) => container.name === name),
  )
}

interface PhaseVerdict {
  readonly phase: PodPhase
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** A pod that ended stays ended; a phase that is not new keeps the words that came with it. */
function computeVerdict(input: StatusInput, computed: PodPhase): PhaseVerdict {
  const { override, previous, pod } = input
  const ended = [pod.status?.phase, previous?.phase].find(isTerminalPhase) as PodPhase | undefined
  if (
    input.ended &&
    override?.yieldsToSuccess === true &&
    computed === 'Succeeded' &&
    !isTerminalPhase(pod.status?.phase)
  )
    return { phase: 'Succeeded' }
  if (override !== undefined && ended === undefined) {
    return { phase: override.phase as PodPhase, reason: override.reason, message: override.message }
  }
  const phase = ended ?? finalPhase(input, computed)
  const said = [previous, pod.status].filter((status) => status?.phase === phase)
  return {
    phase,
    reason: said.find((status) => status?.reason !== undefined)?.reason,
    message: said.find((status) => status?.message !== undefined)?.message,
  }
}

/** A pod that has ended has succeeded or failed; a static one may come back, and is not judged. */
function finalPhase({ pod, ended }: StatusInput, computed: PodPhase): PodPhase {
  if (!ended || computed === 'Succeeded' || isStaticPod(pod)) return computed
  return 'Failed'
}
