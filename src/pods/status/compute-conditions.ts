import type { ContainerStatus, Int64, PodCondition } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { hasRestartAllRule } from '../../model/pod/restart-policy.ts'
import type { PodPhase } from './compute-phase.ts'
import { toApiTime } from '../../model/text/api-time.ts'

export interface ConditionsInput {
  readonly pod: Pod
  readonly phase: PodPhase
  readonly init: readonly ContainerStatus[]
  readonly regular: readonly ContainerStatus[]
  /** The pod has a sandbox in which containers may start. */
  readonly sandboxUsable: boolean
  /** Whether the condition PodReadyToStartContainers is reported. */
  readonly reportsSandbox: boolean
  /** A container ended in a way that asks for a new start of all. */
  readonly restartsAll: boolean
  /** None when the pod has all that it asks for. */
  readonly resize: readonly PodCondition[]
  /** Of each type the first counts. */
  readonly previous: readonly PodCondition[]
  readonly observedGeneration: Int64 | undefined
  readonly now: number
}

interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

/** The conditions that the node agent owns; those that others set on the pod are kept before them. */
const READY_TO_START = 'PodReadyToStartContainers'
const OWNED = [READY_TO_START, 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'] as const
/** Owned too, and reported only of pods that can come to it. */
const ALL_RESTARTING = 'AllContainersRestarting'
const SOMETIMES: readonly string[] = [ALL_RESTARTING, 'PodResizePending', 'PodResizeInProgress']

/** Said by the node and by others: of a pod that is taken from its node. */
export const DISRUPTION_TARGET = 'DisruptionTarget'

/** True for a condition that only the node agent says. */
export function isOwnCondition(type: string): boolean {
  return SOMETIMES.includes(type) || OWNED.some((owned) => owned === type)
}

/** All conditions of a pod. A condition's transition time moves only when its status does. */
export function computeConditions(input: ConditionsInput): PodCondition[] {
  const containersReady = judgeContainersReady(input)
  const verdicts: Record<(typeof OWNED)[number], Verdict> = {
    PodReadyToStartContainers: { status: input.sandboxUsable ? 'True' : 'False' },
    Initialized: judgeInitialized(input),
    Ready: judgeReady(input, containersReady),
    ContainersReady: containersReady,
    PodScheduled: { status: 'True' },
  }
  const foreign = input.previous.filter(({ type }) => !isOwnCondition(type))
  const restarting = hasRestartAllRule(input.pod)
    ? [toCondition({ ...input, observedGeneration: undefined }, ALL_RESTARTING, judgeAllRestarting(input))]
    : []
  const owned = OWNED.filter((type) => type !== READY_TO_START || input.reportsSandbox)
  return [...foreign, ...input.resize, ...owned.map((type) => toCondition(input, type, verdicts[type])), ...restarting]
}

/** True when all containers of a pod were being removed to restart, as it was last reported. */
export function wasRestartingAll(conditions: readonly PodCondition[] | undefined): boolean {
  return conditions?.some(({ type, status }) => type === ALL_RESTARTING && status === 'True') === true
}

function judgeAllRestarting({ phase, restartsAll }: ConditionsInput): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  if (!restartsAll) return { status: 'False' }
  return { status: 'True', reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' }
}

function toCondition(input: ConditionsInput, type: string, verdict: Verdict): PodCondition {
  const old = input.previous.find((condition) => condition.type === type)
  const { observedGeneration } = input
  return {
    type,
    status: verdict.status,
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    ...(verdict.message === undefined ? {} : { message: verdict.message }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime:
      old?.status === verdict.status && old.lastTransitionTime !== undefined
        ? old.lastTransitionTime
        : toApiTime(input.now),
  }
}

function judgeContainersReady({ pod, phase, init, regular }: ConditionsInput): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const wanted = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers].map(({ name }) => name)
  return judgeList(wanted, [...init, ...regular], {
    fine: ({ ready }) => ready,
    reason: 'ContainersNotReady',
    notFine: 'unready',
  })
}

function judgeInitialized({ pod, phase, init, regular, previous }: ConditionsInput): Verdict {
  const containers = pod.spec.initContainers ?? []
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' }
  const regularRan = regular.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined)
  const before = previous.find(({ type }) => type === 'Initialized')?.status === 'True'
  if (containers.length === 0 || regularRan || before) return { status: 'True' }
  const sidecars = new Set(containers.filter(isSidecar).map(({ name }) => name))
  return judgeList(
    containers.map(({ name }) => name),
    init,
    {
      fine: ({ name, ready, started }) => (sidecars.has(name) ? started === true : ready),
      reason: 'ContainersNotInitialized',
      notFine: 'incomplete',
    },
  )
}

interface ListRule {
  readonly fine: (status: ContainerStatus) => boolean
  readonly reason: string
  readonly notFine: string
}

function judgeList(names: readonly string[], statuses: readonly ContainerStatus[], rule: ListRule): Verdict {
  if (statuses.length === 0 && names.length > 0) return { status: 'False', reason: 'UnknownContainerStatuses' }
  const unknown = names.filter((name) => !statuses.some((status) => status.name === name))
  const bad = names.filter((name) => statuses.some((status) => status.name === name && !rule.fine(status)))
  const messages = [
    ...(unknown.length === 0 ? [] : [`containers with unknown status: [${unknown.join(' ')}]`]),
    ...(bad.length === 0 ? [] : [`containers with ${rule.notFine} status: [${bad.join(' ')}]`]),
  ]
  return messages.length === 0
    ? { status: 'True' }
    : { status: 'False', reason: rule.reason, message: messages.join(', ') }
}

function judgeReady({ pod, previous }: ConditionsInput, containersReady: Verdict): Verdict {
  if (containersReady.status === 'False') return containersReady
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = previous.find(({ type }) => type === conditionType)
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    if (gate.status === 'True') return []
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
  })
  return messages.length === 0
    ? { status: 'True' }
    : { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') }
}
