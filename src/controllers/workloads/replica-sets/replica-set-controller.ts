import { sameValue } from '../../../base/document/same-value.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { ReplicaSet } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import { claimChildren, toControllerReference } from '../ownership/claim-children.ts'
import { isNamespaceEnding } from '../../engine/api-objects.ts'
import { createController, createQueue, queueChanges, queueOwners, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import { runInBatches } from '../../engine/run-in-batches.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { isActive, isTerminating, msUntilAvailable } from '../pods/pod-availability.ts'
import { PodControl, toPod } from '../pods/pod-control.ts'
import { computeReplicaSetStatus } from './compute-replica-set-status.ts'
import type { ReplicaSetObservation } from './compute-replica-set-status.ts'
import { computeDeletionOrder } from '../pods/compute-deletion-order.ts'

// What is left is done in the next pass.
const MOST_AT_ONCE = 500

type Sets = Pick<ControllerDeps, 'clock' | 'pods' | 'replicaSets'> & { readonly control: PodControl }

/** Keeps as many pods of a template as each replica set asks for. */
export function createReplicaSetController(deps: ControllerDeps): Controller {
  const { pods, replicaSets, record } = deps
  const queue = createQueue('replica-sets', deps)
  queueChanges(queue, replicaSets)
  queueOwners(queue, pods, replicaSets, (set, pod) => matches(set, pod))
  const events = createObjectEvents(record, 'replicaset-controller', replicaSets.kind)
  const sets: Sets = { ...deps, control: new PodControl(pods, events) }
  return createController({
    name: 'replica-sets',
    queue,
    reads: [pods, replicaSets],
    reconcile: reconcileKnown(replicaSets, (set, signal) => reconcile(sets, set, signal)),
  })
}

async function reconcile(sets: Sets, set: Live<ReplicaSet>, signal: AbortSignal): Promise<NextTurn> {
  const { clock, pods, replicaSets } = sets
  const { namespace, uid, deletionTimestamp } = set.metadata
  const active = await claimChildren(
    {
      owners: replicaSets,
      owner: set,
      children: pods,
      isCandidate: isActive,
      matches: (pod) => matches(set, pod),
    },
    signal,
  )
  const terminating = pods.known.controlledBy(namespace, uid).filter((pod) => isTerminating(pod) && matches(set, pod))
  const outcome = deletionTimestamp === undefined ? await manage(sets, set, active, signal) : undefined
  const now = clock.now()
  const observation = { active, terminating: terminating.length, failure: outcome?.failure, now }
  const status = computeReplicaSetStatus(set, observation)
  if (!sameValue(status, set.status)) await replicaSets.updateStatus({ ...set, status }, signal)
  if (outcome !== undefined) throw outcome.error
  return nextTurn(active, set.spec.minReadySeconds ?? 0, now)
}

/** Creates or deletes pods; gives what went wrong. */
async function manage(
  { clock, control, replicaSets }: Sets,
  set: Live<ReplicaSet>,
  active: readonly Live<Pod>[],
  signal: AbortSignal,
): Promise<{ readonly failure: ReplicaSetObservation['failure']; readonly error: unknown } | undefined> {
  const { create, remove } = computeReplicaSetPlan(active, set.spec.replicas ?? 1, clock.now())
  const pod = toPod(set.metadata.name, toControllerReference(replicaSets.kind, set.metadata), set.spec.template ?? {})
  const created = await runInBatches(create, async () => void (await control.create(set, pod, signal)))
  if (created.error !== undefined) return toOutcome('FailedCreate', created.error)
  const removed = await Promise.allSettled(remove.map((each) => control.remove(set, each, signal)))
  const failed = removed.find((result) => result.status === 'rejected')
  return failed === undefined ? undefined : toOutcome('FailedDelete', failed.reason)
}

function toOutcome(reason: 'FailedCreate' | 'FailedDelete', error: unknown) {
  return { failure: isNamespaceEnding(error) ? undefined : { reason, message: errorMessage(error) }, error }
}

/** A pod that is ready becomes available by time alone. */
function nextTurn(active: readonly Live<Pod>[], minReadySeconds: number, now: number): NextTurn {
  const waits = active.map((pod) => msUntilAvailable(pod, minReadySeconds, now) ?? 0).filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) }
}

function matches({ spec }: Live<ReplicaSet>, { metadata }: Live<Pod>): boolean {
  return matchesLabelSelector(spec.selector, metadata.labels ?? {})
}

/** What a replica set has to do about the number of its pods. */
interface ReplicaSetPlan {
  readonly create: number
  readonly remove: readonly Live<Pod>[]
}

/** How a number of pods becomes the one that is asked for. */
function computeReplicaSetPlan(active: readonly Live<Pod>[], replicas: number, now: number): ReplicaSetPlan {
  const missing = replicas - active.length
  if (missing >= 0) return { create: Math.min(missing, MOST_AT_ONCE), remove: [] }
  const order = -missing < active.length ? computeDeletionOrder(active, { now }) : active
  return { create: 0, remove: order.slice(0, Math.min(-missing, MOST_AT_ONCE)) }
}
