import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../model/generated/api-groups.ts'
import type { Condition, Pod } from '../../model/generated/core-v1.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { resolveIntOrPercent } from '../engine/int-or-percent.ts'
import type { Live } from '../engine/live-object.ts'
import { isReady } from '../pods/pod-state.ts'

const DISRUPTION_MS = 120_000

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
}

/** How many pods of a budget may be given up. */
export function computeBudgetStatus({ budget, pods, scale, now }: BudgetInput): BudgetResult {
  const { disrupted, afterMs } = computeDisrupted(budget, pods, now)
  const base = { observedGeneration: budget.metadata.generation, disruptedPods: disrupted }
  if (scale instanceof Error) {
    const status = { ...budget.status, ...base, disruptionsAllowed: 0 }
    return {
      status: { ...status, conditions: withCondition(budget, 'False', 'SyncFailed', scale.message, now) },
      afterMs,
    }
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
      ? withCondition(budget, 'True', 'SufficientPods', '', now)
      : withCondition(budget, 'False', 'InsufficientPods', '', now)
  return {
    status: { ...base, currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, conditions },
    afterMs,
  }
}

/** Evictions that have not shown in their pods yet. */
function computeDisrupted({ status }: Live<PodDisruptionBudget>, pods: readonly Live<Pod>[], now: number) {
  const left = Object.entries(status?.disruptedPods ?? {})
    .filter(([name]) => pods.some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined))
    .map(([name, time]) => ({ name, time, leftMs: Date.parse(time) + DISRUPTION_MS - now }))
    .filter(({ leftMs }) => leftMs > 0)
  return {
    disrupted: Object.fromEntries(left.map(({ name, time }) => [name, time])) as Readonly<Record<string, string>>,
    afterMs: left.length === 0 ? undefined : Math.min(...left.map(({ leftMs }) => leftMs)),
  }
}

function withCondition(
  { metadata, status }: Live<PodDisruptionBudget>,
  value: string,
  reason: string,
  message: string,
  now: number,
): readonly Condition[] {
  const conditions = status?.conditions ?? []
  const present = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const lastTransitionTime = present?.status === value ? present.lastTransitionTime : toApiTime(now)
  const observedGeneration = metadata.generation
  return [
    ...conditions.filter(({ type }) => type !== 'DisruptionAllowed'),
    { type: 'DisruptionAllowed', status: value, reason, message, lastTransitionTime, observedGeneration },
  ]
}
