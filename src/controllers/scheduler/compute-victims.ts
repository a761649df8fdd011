import type { Pod } from '../../model/pod/pod.ts'
import { priorityOf } from './cluster-view.ts'
import type { NodePlace, Unfit } from './cluster-view.ts'
import { computeFit } from './compute-fit.ts'
import type { PodDisruptionBudget } from '../../model/generated/api-groups.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'

/** Who has to leave for a pod, or why the leaving of no pod helps. */
type Preemption =
  | { readonly kind: 'victims'; readonly victims: readonly Pod[] }
  | { readonly kind: 'in vain'; readonly why: string }

const NOT_HELPFUL = 'Preemption is not helpful for scheduling'
const NO_VICTIMS = 'No preemption victims found for incoming pod'

/**
 * Chooses the pods of lower priority that have to leave: all that cannot stay beside the pod. Those that a budget of disruptions protects are
 * asked first, then the others, the most important before the rest.
 */
export function computeVictims(pod: Pod, place: NodePlace, unfit: Unfit): Preemption {
  if (!unfit.isUpToPods) return inVain([NOT_HELPFUL])
  const candidates = place.present.filter((other) => priorityOf(other) < priorityOf(pod))
  if (candidates.length === 0) return inVain([NO_VICTIMS])
  let present = place.present.filter((other) => !candidates.includes(other))
  const still = computeFit(pod, { ...place, present })
  if (still !== undefined) return inVain(still.reasons)
  const victims: Pod[] = []
  for (const candidate of inTurn(candidates, place)) {
    const with_ = [...present, candidate]
    if (computeFit(pod, { ...place, present: with_ }) === undefined) present = with_
    else victims.push(candidate)
  }
  return { kind: 'victims', victims }
}

function inTurn(candidates: readonly Pod[], { budgets }: NodePlace): readonly Pod[] {
  const sorted = candidates.toSorted(byImportance)
  const protectedPods = computeProtected(sorted, budgets)
  return [...protectedPods, ...sorted.filter((pod) => !protectedPods.has(pod))]
}

function byImportance(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || startOf(a) - startOf(b)
}

function startOf({ status, metadata }: Pod): number {
  return Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '') || 0
}

function inVain(reasons: readonly string[]): Preemption {
  return { kind: 'in vain', why: formatReasons(reasons) }
}

/** As schedulers say it for a cluster of one node. */
export function formatReasons(reasons: readonly string[]): string {
  return `0/1 nodes are available: ${[...reasons]
    .map((reason) => `1 ${reason}`)
    .sort()
    .join(', ')}.`
}

/** The pods whose leaving, each after those before it in the list, is more than a budget of disruptions allows. */
function computeProtected(pods: readonly Pod[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<Pod> {
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
