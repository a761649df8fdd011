import type { PodCondition, PodStatus } from '../../model/generated/core-v1.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import { DISRUPTION_TARGET, isOwnCondition } from './compute-conditions.ts'
import { computeLegalStatuses } from './compute-legal-statuses.ts'
import { isTerminalPhase } from './compute-phase.ts'
import type { PodReport } from './pod-report.ts'
import { largestOf } from '../../model/text/int64.ts'

const READY_TYPES = ['Ready', 'ContainersReady']

/**
 * What the API should hold of a pod's status as far as the node has a say in it: our own conditions, and of the rest what was reported before
 * where nothing is known here. A pod of the API that is terminal stays so, and one of which something may still run is never reported as terminal.
 */
export function computeMergedStatus(reported: PodStatus, report: PodReport): PodStatus {
  const { status } = report
  const { phase, reason, message } = verdictOf(reported, report)
  return {
    allocatedResources: status.allocatedResources ?? reported.allocatedResources,
    conditions: mergeConditions(reported, report, phase),
    containerStatuses: computeLegalStatuses(report.pod, reported.containerStatuses, status.containerStatuses),
    ephemeralContainerStatuses: status.ephemeralContainerStatuses ?? reported.ephemeralContainerStatuses,
    hostIP: status.hostIP ?? reported.hostIP,
    hostIPs: status.hostIPs ?? reported.hostIPs,
    initContainerStatuses: status.initContainerStatuses ?? reported.initContainerStatuses,
    message,
    observedGeneration: largestOf([reported.observedGeneration, status.observedGeneration]),
    phase,
    podIP: status.podIP ?? reported.podIP,
    podIPs: status.podIPs ?? reported.podIPs,
    // Once said, these never change.
    qosClass: reported.qosClass ?? status.qosClass,
    reason,
    resources: status.resources ?? reported.resources,
    startTime: reported.startTime ?? status.startTime,
  }
}

type Verdict = Pick<PodStatus, 'phase' | 'reason' | 'message'>

function verdictOf(reported: PodStatus, { pod, status, mayRun }: PodReport): Verdict {
  // A static pod starts again under the same mirror, for example after a shutdown of the node.
  if (isTerminalPhase(reported.phase) && !isStaticPod(pod)) return reported.phase === status.phase ? status : reported
  return isTerminalPhase(status.phase) && mayRun ? reported : status
}

function mergeConditions(reported: PodStatus, report: PodReport, phase: string | undefined): readonly PodCondition[] {
  const said = (report.status.conditions ?? []).filter(
    ({ type }) => isOwnCondition(type) || (type === DISRUPTION_TARGET && isJustTerminal(reported, phase)),
  )
  const kept = isStaticPod(report.pod) ? said.map((condition) => keepTime(condition, reported)) : said
  if (!isTerminalPhase(phase)) return kept
  const missing = (reported.conditions ?? []).filter(
    ({ type }) => READY_TYPES.includes(type) && !kept.some((condition) => condition.type === type),
  )
  return [...kept, ...missing].map((condition) => endReadiness(condition, phase))
}

/** The node says why it took a pod away when it reports the pod as terminal, and at no other time. */
function isJustTerminal(reported: PodStatus, phase: string | undefined): boolean {
  return !isTerminalPhase(reported.phase) && isTerminalPhase(phase)
}

/** An agent that has restarted knows nothing of what was reported of a static pod: only its mirror does. */
function keepTime(condition: PodCondition, reported: PodStatus): PodCondition {
  const old = reported.conditions?.find(({ type }) => type === condition.type)
  return old?.status === condition.status && old.lastTransitionTime !== undefined
    ? { ...condition, lastTransitionTime: old.lastTransitionTime }
    : condition
}

/** A terminal pod gets no requests, whichever component ended it. */
function endReadiness(condition: PodCondition, phase: string | undefined): PodCondition {
  if (!READY_TYPES.includes(condition.type) || condition.status === 'False') return condition
  return { ...condition, status: 'False', reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
}
