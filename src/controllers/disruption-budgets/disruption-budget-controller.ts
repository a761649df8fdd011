import type { PodDisruptionBudget } from '../../model/generated/api-groups.ts'
import type { Pod } from '../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'
import { createController, createQueue, queueChanges } from '../engine/controller.ts'
import type { Controller } from '../engine/controller.ts'
import type { ControllerDeps } from '../engine/controller-deps.ts'
import { controllerOf, keyOf, parseKey } from '../engine/live-object.ts'
import type { Live } from '../engine/live-object.ts'
import { createObjectEvents } from '../engine/object-events.ts'
import type { RecordEvent } from '../engine/object-events.ts'
import { sameStatus } from '../engine/same-status.ts'
import type { NextTurn } from '../engine/work-queue.ts'
import { computeBudgetStatus } from './compute-budget-status.ts'

type Budgets = Pick<ControllerDeps, 'clock' | 'pods' | 'budgets' | 'replicaSets' | 'deployments' | 'statefulSets'> & {
  readonly record: RecordEvent
}

/** Counts how many pods of each budget may be evicted; the API asks for it. */
export function createDisruptionBudgetController(deps: ControllerDeps): Controller {
  const { pods, budgets, replicaSets, deployments, statefulSets } = deps
  const queue = createQueue('disruption-budgets', deps)
  queueChanges(queue, budgets)
  const queueBudgetsOf = (pod: Live<Pod> | undefined) => {
    if (pod === undefined) return
    for (const budget of budgets.known.in(pod.metadata.namespace)) if (covers(budget, pod)) queue.add(keyOf(budget))
  }
  pods.known.onChange((after, before) => {
    queueBudgetsOf(before)
    queueBudgetsOf(after)
  })
  const queueAll = (object: { readonly metadata: { readonly namespace: string } } | undefined) => {
    for (const budget of budgets.known.in(object?.metadata.namespace ?? '')) queue.add(keyOf(budget))
  }
  for (const { known } of [deployments, replicaSets, statefulSets])
    known.onChange((after, before) => {
      if (after?.spec.replicas !== before?.spec.replicas) queueAll(after ?? before)
    })
  const record = createObjectEvents(deps.record, 'controllermanager', budgets.kind)
  return createController({
    name: 'disruption-budgets',
    queue,
    reads: [pods, budgets, replicaSets, deployments, statefulSets],
    reconcile: async (key, signal) => {
      const { namespace, name } = parseKey(key)
      const budget = budgets.known.get(namespace, name)
      return budget === undefined ? undefined : await reconcile({ ...deps, record }, budget, signal)
    },
  })
}

async function reconcile(parts: Budgets, budget: Live<PodDisruptionBudget>, signal: AbortSignal): Promise<NextTurn> {
  const covered = parts.pods.known.in(budget.metadata.namespace).filter((pod) => covers(budget, pod))
  if (covered.length === 0) parts.record(budget, 'Normal', 'NoPods', 'No matching pods found')
  const scale = typeof budget.spec.minAvailable === 'number' ? covered.length : findScale(parts, covered)
  if (scale instanceof Error) {
    const message = `Failed to calculate the number of expected pods: ${scale.message}`
    parts.record(budget, 'Warning', 'CalculateExpectedPodCountFailed', message)
  }
  const { status, afterMs } = computeBudgetStatus({ budget, pods: covered, scale, now: parts.clock.now() })
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
  return new Error(`${controller.kind.toLowerCase()}s "${controller.name}" does not implement the scale subresource`)
}

function covers({ spec }: Live<PodDisruptionBudget>, { metadata }: Live<Pod>): boolean {
  return matchesLabelSelector(spec.selector, metadata.labels ?? {})
}
