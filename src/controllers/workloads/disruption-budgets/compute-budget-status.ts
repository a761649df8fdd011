import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../model/generated/api-groups.ts'
import type { Condition, Pod } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { resolveIntOrPercent } from '../../engine/int-or-percent.ts'
import type { Live } from '../../engine/live-object.ts'
import { isReady } from '../pods/pod-availability.ts'

const DISRUPTION_MS = 120_000
const ALLOWED = 'DisruptionAllowed'

export interface BudgetInput {
  readonly budget: Live<PodDisruptionBudget>
  /** Those that the budget covers. */
  readonly pods: readonly Live<Pod>[]
  /** How many pods their controllers want; an error where one cannot say. */
  readonly scale: number | Error
  readonly now: number
}

export interface BudgetResult {
  readonly status: PodDisruptionBudgetStatus
  /** When an eviction that was not followed by the end of its pod is forgotten. */
  readonly afterMs: number | undefined
  /** Pods that were evicted and did not go. */
  readonly overdue: readonly Live<Pod>[]
}

/** How many pods of a budget may be given up. */
export function computeBudgetStatus({ budget, pods, scale, now }: BudgetInput): BudgetResult {
  const { disrupted, afterMs, overdue } = computeDisrupted(budget, pods, now)
  const base = { observedGeneration: budget.metadata.generation, disruptedPods: disrupted }
  if (scale instanceof Error) {
    // Parity: what is not known was not observed.
    const { observedGeneration } = budget.status ?? {}
    const conditions = withCondition(budget, 'False', { reason: 'SyncFailed', message: scale.message }, now)
    const about = conditions.map((each) => (each.type === ALLOWED ? { ...each, observedGeneration } : each))
    const counts = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...budget.status }
    return { status: { ...counts, disruptionsAllowed: 0, conditions: about }, afterMs, overdue }
  }
  const { minAvailable, maxUnavailable } = budget.spec
  const expectedPods = typeof minAvailable === 'number' ? pods.length : scale
  const desiredHealthy =
    minAvailable !== undefined
      ? resolveIntOrPercent(minAvailable, expectedPods, 'up')
      : maxUnavailable !== undefined
        ? Math.max(0, expectedPods - resolveIntOrPercent(maxUnavailable, expectedPods, 'up'))
        : expectedPods
  const currentHealthy = pods.filter(
    (pod) => pod.metadata.deletionTimestamp === undefined && disrupted[pod.metadata.name] === undefined && isReady(pod),
  ).length
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const conditions =
    disruptionsAllowed > 0
      ? withCondition(budget, 'True', { reason: 'SufficientPods', message: '' }, now)
      : withCondition(budget, 'False', { reason: 'InsufficientPods', message: '' }, now)
  return {
    status: { ...base, currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, conditions },
    afterMs,
    overdue,
  }
}

/** Evictions that have not shown in their pods yet. */
function computeDisrupted({ status }: Live<PodDisruptionBudget>, pods: readonly Live<Pod>[], now: number) {
  const all = Object.entries(status?.disruptedPods ?? {}).flatMap(([name, time]) => {
    const pod = pods.find(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined)
    return pod === undefined ? [] : [{ pod, name, time, leftMs: Date.parse(time) + DISRUPTION_MS - now }]
  })
  const left = all.filter(({ leftMs }) => leftMs > 0)
  return {
    overdue: all.filter(({ leftMs }) => leftMs <= 0).map(({ pod }) => pod),
    disrupted: Object.fromEntries(left.map(({ name, time }) => [name, time])) as Readonly<Record<string, string>>,
    afterMs: left.length === 0 ? undefined : Math.min(...left.map(({ leftMs }) => leftMs)),
  }
}

function withCondition(
  { metadata, status }: Live<PodDisruptionBudget>,
  value: string,
  { reason, message }: Pick<Condition, 'reason' | 'message'>,
  now: number,
): readonly Condition[] {
  const conditions = status?.conditions ?? []
  const present = conditions.find(({ type }) => type === ALLOWED)
  const lastTransitionTime = present?.status === value ? present.lastTransitionTime : toApiTime(now)
  const observedGeneration = metadata.generation
  return [
    ...conditions.filter(({ type }) => type !== ALLOWED),
    { type: ALLOWED, status: value, reason, message, lastTransitionTime, observedGeneration },
  ]
}
