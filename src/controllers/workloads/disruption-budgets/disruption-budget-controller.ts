import type { PodDisruptionBudget } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import { createController, createQueue, queueChanges, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { controllerOf, keyOf } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { sameStatus } from '../../engine/same-status.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { computeBudgetStatus } from './compute-budget-status.ts'

type Budgets = Pick<ControllerDeps, 'clock' | 'pods' | 'budgets' | 'replicaSets' | 'deployments' | 'statefulSets'> & {
  readonly record: RecordEvent
  /** For events about pods. */
  readonly recordPod: RecordEvent
}

/** Counts how many pods of each budget may be evicted; the API asks for it. */
export function createDisruptionBudgetController(deps: ControllerDeps): Controller {
  const { pods, budgets, replicaSets, deployments, statefulSets } = deps
  const queue = createQueue('disruption-budgets', deps)
  queueChanges(queue, budgets)
  const record = createObjectEvents(deps.record, 'controllermanager', budgets.kind)
  const recordPod = createObjectEvents(deps.record, 'controllermanager', pods.kind)
  const queueBudgetsOf = (pod: Live<Pod> | undefined) => {
    if (pod === undefined) return []
    const covering = budgets.known.in(pod.metadata.namespace).filter((budget) => covers(budget, pod))
    for (const budget of covering) queue.add(keyOf(budget))
    return covering
  }
  pods.known.onChange((after, before) => {
    queueBudgetsOf(before)
    const [first, second] = queueBudgetsOf(after)
    if (after === undefined || first === undefined || second === undefined) return
    const { namespace, name } = after.metadata
    const message = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${first.metadata.name}" arbitrarily.`
    recordPod(after, 'Warning', 'MultiplePodDisruptionBudgets', message)
  })
  const queueAll = (object: { readonly metadata: { readonly namespace: string } } | undefined) => {
    for (const budget of budgets.known.in(object?.metadata.namespace ?? '')) queue.add(keyOf(budget))
  }
  for (const { known } of [deployments, replicaSets, statefulSets])
    known.onChange((after, before) => {
      if (after?.spec.replicas !== before?.spec.replicas) queueAll(after ?? before)
    })
  return createController({
    name: 'disruption-budgets',
    queue,
    reads: [pods, budgets, replicaSets, deployments, statefulSets],
    reconcile: reconcileKnown(budgets, (budget, signal) => reconcile({ ...deps, record, recordPod }, budget, signal)),
  })
}

async function reconcile(parts: Budgets, budget: Live<PodDisruptionBudget>, signal: AbortSignal): Promise<NextTurn> {
  const covered = parts.pods.known.in(budget.metadata.namespace).filter((pod) => covers(budget, pod))
  if (covered.length === 0) parts.record(budget, 'Normal', 'NoPods', 'No matching pods found')
  const isCounted = typeof budget.spec.minAvailable === 'number'
  const scale = isCounted ? covered.length : findScale(parts, covered)
  if (scale instanceof Error) {
    const message = `Failed to calculate the number of expected pods: ${scale.message}`
    parts.record(budget, 'Warning', 'CalculateExpectedPodCountFailed', message)
  } else if (!isCounted && covered.some((pod) => controllerOf(pod) === undefined))
    parts.record(budget, 'Warning', 'UnmanagedPods', unmanagedMessage(budget))
  const { status, afterMs, overdue } = computeBudgetStatus({ budget, pods: covered, scale, now: parts.clock.now() })
  const { namespace, name } = budget.metadata
  for (const pod of overdue)
    parts.recordPod(
      pod,
      'Warning',
      'NotDeleted',
      `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`,
    )
  if (!sameStatus(status, budget.status)) await parts.budgets.updateStatus({ ...budget, status }, signal)
  return afterMs === undefined ? undefined : { afterMs }
}

/** How many pods the controllers of some pods want together. */
function findScale(parts: Budgets, pods: readonly Live<Pod>[]): number | Error {
  const sizes = new Map<string, number>()
  for (const pod of pods) {
    const found = findController(parts, pod)
    if (found instanceof Error) return found
    if (found !== undefined) sizes.set(found.uid, found.replicas)
  }
  return [...sizes.values()].reduce((total, size) => total + size, 0)
}

function findController(
  { replicaSets, deployments, statefulSets }: Budgets,
  pod: Live<Pod>,
): { readonly uid: string; readonly replicas: number } | Error | undefined {
  const { namespace } = pod.metadata
  const controller = controllerOf(pod)
  if (controller === undefined) return undefined
  if (controller.kind === 'StatefulSet') {
    const set = statefulSets.known.get(namespace, controller.name)
    return set && { uid: set.metadata.uid, replicas: set.spec.replicas ?? 1 }
  }
  if (controller.kind === 'ReplicaSet') {
    const set = replicaSets.known.get(namespace, controller.name)
    const owner = set && deployments.known.get(namespace, controllerOf(set)?.name ?? '')
    const sized = owner ?? set
    return sized && { uid: sized.metadata.uid, replicas: sized.spec.replicas ?? 1 }
  }
  const [group = ''] = controller.apiVersion.split('/')
  return new Error(`${controller.kind.toLowerCase()}s.${group} does not implement the scale subresource`)
}

/** Parity: the selector is printed as Go prints it. */
function unmanagedMessage({ spec }: Live<PodDisruptionBudget>): string {
  const { matchLabels = {}, matchExpressions = [] } = spec.selector ?? {}
  const labels = Object.entries(matchLabels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}: ${value},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const selector = `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
  return `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`
}

function covers({ spec }: Live<PodDisruptionBudget>, { metadata }: Live<Pod>): boolean {
  return matchesLabelSelector(spec.selector, metadata.labels ?? {})
}
