import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { ETCD_KEY_ANNOTATION } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { isTerminalPhase } from '../../status/compute-phase.ts'
import type { ProbeReport } from '../probing/probe-answers.ts'
import type { PodIdentity } from '../pod-life.ts'
import type { PodState } from '../pod-state.ts'
import { computeWhy } from './compute-why.ts'
import type { WhyInput } from './compute-why.ts'
import type { TimelineStep } from './timeline-step.ts'

/** What a pod is at, for people. */
export interface PodExplanation extends PodIdentity {
  readonly state: PodState['kind']
  readonly why: string
  /** Where the pod comes from, where its name does not say it. */
  readonly from?: string
  readonly steps: readonly TimelineStep[]
  readonly probes: readonly ProbeReport[]
}

export interface ExplainInput extends WhyInput {
  readonly identity: PodIdentity
  /** Undefined for an orphan. */
  readonly pod: Pod | undefined
  readonly probes: readonly ProbeReport[]
}

/** Explains why a pod is as it is. */
export function explainPod({ identity, pod, probes, ...input }: ExplainInput): PodExplanation {
  const { state, status, steps } = input
  const { namespace, name, uid } = identity
  const needsNetwork = pod?.spec.hostNetwork !== true && status?.phase !== 'Running'
  const networkProblem = needsNetwork ? input.networkProblem : undefined
  const why = computeWhy({ ...input, networkProblem, status: lastStatus(state, status, pod?.status) })
  const key = pod?.metadata.annotations?.[ETCD_KEY_ANNOTATION]
  return { namespace, name, uid, state: state.kind, why, ...(key && { from: `etcd key ${key}` }), steps, probes }
}

/** How a pod ended under another agent is known from the API only. */
function lastStatus(
  { kind }: PodState,
  own: PodStatus | undefined,
  inApi: PodStatus | undefined,
): PodStatus | undefined {
  return kind === 'terminated' && !isTerminalPhase(own?.phase) && isTerminalPhase(inApi?.phase) ? inApi : own
}
