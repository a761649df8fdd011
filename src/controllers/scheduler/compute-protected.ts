import type { PodDisruptionBudget } from '../../model/generated/api-groups.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** The pods whose leaving, each after those before it in the list, is more than a budget of disruptions allows. */
export function computeProtected(pods: readonly Pod[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<Pod> {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]))
  const protectedPods = new Set<Pod>()
  for (const pod of pods) {
    for (const budget of budgets.filter((each) => counts(pod, each))) {
      const left = (allowed.get(budget) ?? 0) - 1
      allowed.set(budget, left)
      if (left < 0) protectedPods.add(pod)
    }
  }
  return protectedPods
}

/** Parity: a budget whose selector asks for nothing protects no pod from preemption; one that leaves already is counted. */
function counts({ metadata }: Pod, { metadata: own, spec, status }: PodDisruptionBudget): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {}
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0
  return (
    own?.namespace === metadata.namespace &&
    !isEmpty &&
    Object.keys(metadata.labels ?? {}).length > 0 &&
    matchesLabelSelector(spec?.selector, metadata.labels ?? {}) &&
    status?.disruptedPods?.[metadata.name] === undefined
  )
}
