import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  MetricStatus,
} from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeAllowedReplicas } from './compute-allowed-replicas.ts'
import type { ScalingHistory } from './compute-allowed-replicas.ts'
import { computeProposal } from './compute-proposal.ts'
import type { UsageReading } from './compute-proposal.ts'

type Conditions = readonly HorizontalPodAutoscalerCondition[]

/** Which pods an autoscaler looks at; a failure where that is unknown. */
export type SelectedPods =
  | { readonly pods: readonly Live<Pod>[] }
  | { readonly event: string; readonly reason: string; readonly message: string; readonly conditionMessage?: string }

export interface DecisionInput {
  readonly autoscaler: Live<HorizontalPodAutoscaler>
  /** How many replicas the target is asked to have. */
  readonly current: number
  readonly selection: SelectedPods
  readonly usage: ReadonlyMap<string, UsageReading> | Error
  readonly history: ScalingHistory | undefined
  readonly now: number
  /** The same moment in the time of clock.monotonic(). */
  readonly at: number
}

export interface ScalingDecision {
  readonly conditions: Conditions
  readonly currentMetrics: readonly MetricStatus[]
  /** Undefined: nothing could be decided, and the status keeps what it says. */
  readonly desired: number | undefined
  /** Why the target is to be scaled; undefined when it is not. */
  readonly rescale: string | undefined
  /** Warnings about the autoscaler. */
  readonly warnings: readonly { readonly reason: string; readonly message: string }[]
  readonly history: ScalingHistory
}

/** What is to become of the target of an autoscaler. */
export function computeScalingDecision(input: DecisionInput): ScalingDecision {
  const { autoscaler, current, now, at } = input
  const { minReplicas = 1, maxReplicas } = autoscaler.spec
  // After a start the number that is there counts as recommended, so that nothing shrinks at once.
  const history = input.history ?? { recommendations: [{ replicas: current, at }], added: [], removed: [] }
  const conditions = withScalingCondition(
    autoscaler.status?.conditions ?? [],
    ['AbleToScale', 'True', 'SucceededGetScale', "the HPA controller was able to get the target's current scale"],
    now,
  )
  const base = { conditions, currentMetrics: [], rescale: undefined, warnings: [], history }
  if (current === 0) {
    const message = 'scaling is disabled since the replica count of the target is zero'
    const disabled = withScalingCondition(conditions, ['ScalingActive', 'False', 'ScalingDisabled', message], now)
    return { ...base, conditions: disabled, desired: 0 }
  }
  if (current > maxReplicas)
    return { ...base, desired: maxReplicas, rescale: 'Current number of replicas above Spec.MaxReplicas' }
  if (current < minReplicas)
    return { ...base, desired: minReplicas, rescale: 'Current number of replicas below Spec.MinReplicas' }
  return computeByMetrics(input, { ...base, desired: undefined })
}

function computeByMetrics(
  { autoscaler, current, selection, usage, now, at }: DecisionInput,
  base: ScalingDecision,
): ScalingDecision {
  if ('reason' in selection) {
    const { event, reason, message, conditionMessage = message } = selection
    const warnings = [
      { reason: event, message },
      { reason: 'FailedComputeMetricsReplicas', message },
    ]
    const conditions = withScalingCondition(base.conditions, ['ScalingActive', 'False', reason, conditionMessage], now)
    return { ...base, conditions, warnings }
  }
  const proposal = computeProposal({ autoscaler, current, pods: selection.pods, usage, now })
  const { replicas: proposed, metric, statuses, failures, error = '' } = proposal
  const warnings = failures.map(({ reason, message }) => ({ reason, message }))
  if (proposed === undefined) {
    const { reason = '', message = '' } = failures[0] ?? {}
    const why = `the HPA was unable to compute the replica count: ${message}`
    return {
      ...base,
      conditions: withScalingCondition(base.conditions, ['ScalingActive', 'False', reason, why], now),
      currentMetrics: statuses,
      warnings: [...warnings, { reason: 'FailedComputeMetricsReplicas', message: error }],
    }
  }
  const { spec } = autoscaler
  const { replicas, able, limited, history } = computeAllowedReplicas({
    spec,
    current,
    proposed,
    history: base.history,
    at,
  })
  const found = `the HPA was able to successfully calculate a replica count from ${metric}`
  const news: readonly NewCondition[] = [
    ['ScalingActive', 'True', 'ValidMetricFound', found],
    ['AbleToScale', 'True', able.reason, able.message],
    ['ScalingLimited', limited.isLimited ? 'True' : 'False', limited.reason, limited.message],
  ]
  const why = proposed > current ? `${metric} above target` : proposed < current ? 'All metrics below target' : ''
  return {
    conditions: news.reduce((all, condition) => withScalingCondition(all, condition, now), base.conditions),
    currentMetrics: statuses,
    desired: replicas,
    rescale: replicas === current ? undefined : why,
    warnings,
    history,
  }
}

type NewCondition = readonly [type: string, status: 'True' | 'False', reason: string, message: string]

/** The conditions with one more, or with a changed one in its place. */
export function withScalingCondition(
  conditions: Conditions,
  [type, status, reason, message]: NewCondition,
  now: number,
): Conditions {
  const present = conditions.find((each) => each.type === type)
  const lastTransitionTime = present?.status === status ? present.lastTransitionTime : toApiTime(now)
  const condition = { type, status, lastTransitionTime, reason, message }
  return present === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (each === present ? condition : each))
}
