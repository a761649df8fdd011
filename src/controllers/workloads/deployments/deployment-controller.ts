import type { Deployment, ReplicaSet } from '../../../model/generated/api-groups.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import { claimChildren } from '../ownership/claim-children.ts'
import { createController, createQueue, queueChanges, queueOwners, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { controllerOf, keyOf } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { isTerminal } from '../pods/pod-availability.ts'
import {
  computeDeadlineCheck,
  computeDeploymentCounts,
  computePauseConditions,
  computeRolloutStatus,
  isComplete,
} from './compute-deployment-status.ts'
import { computeExpiredSets } from './compute-revisions.ts'
import { computeRollingStep } from './compute-rolling-step.ts'
import { computeIsScaling, computeScaling } from './compute-scaling.ts'
import { activeOf, sizeOf, splitSets } from './deployment-sets.ts'
import type { DeploymentSets } from './deployment-sets.ts'
import { DeploymentWriter } from './deployment-writer.ts'
import type { Rollout } from './deployment-writer.ts'

/** Rolls out the templates of deployments: a replica set for each, sized step by step. */
export function createDeploymentController(deps: ControllerDeps): Controller {
  const { deployments, replicaSets, pods } = deps
  const queue = createQueue('deployments', deps)
  queueChanges(queue, deployments)
  queueOwners(queue, replicaSets, deployments, matches)
  // A deployment that recreates waits for the last of its old pods, of which no replica set reports.
  pods.known.onChange((after, before) => {
    if (before === undefined || (after !== undefined && !isTerminal(after))) return
    const set = replicaSets.known.get(before.metadata.namespace, controllerOf(before)?.name ?? '')
    const owner = set && deployments.known.get(set.metadata.namespace, controllerOf(set)?.name ?? '')
    if (owner?.spec.strategy?.type === 'Recreate') queue.add(keyOf(owner))
  })
  const record = createObjectEvents(deps.record, 'deployment-controller', deployments.kind)
  return createController({
    name: 'deployments',
    queue,
    reads: [pods, replicaSets, deployments],
    reconcile: reconcileKnown(deployments, async (deployment, signal) => {
      return await reconcile(deps, new DeploymentWriter({ ...deps, record }, signal), deployment, signal)
    }),
  })
}

async function reconcile(
  deps: ControllerDeps,
  writer: DeploymentWriter,
  deployment: Live<Deployment>,
  signal: AbortSignal,
): Promise<NextTurn> {
  const { clock, deployments, replicaSets } = deps
  const owned = await claimChildren(
    { owners: deployments, owner: deployment, children: replicaSets, matches: (set) => matches(deployment, set) },
    signal,
  )
  const sets = splitSets(deployment, owned)
  if (deployment.metadata.deletionTimestamp !== undefined) {
    await writer.writeStatus(deployment, computeDeploymentCounts(deployment, sets, clock.now()))
    return undefined
  }
  const conditions = computePauseConditions(deployment, clock.now())
  const paused =
    conditions === undefined ? deployment : await writer.writeStatus(deployment, { ...deployment.status, conditions })
  const isScaling = paused.spec.paused === true || computeIsScaling(paused, sets)
  const written = isScaling
    ? await scale(deps, writer, { deployment: paused, sets })
    : await rollOut(deps, writer, { deployment: paused, sets })
  const ms = computeDeadlineCheck(written, clock.now())
  return ms === undefined ? undefined : { afterMs: ms }
}

/** Follows a new number of replicas without going on with the rollout. */
async function scale({ clock }: ControllerDeps, writer: DeploymentWriter, rollout: Rollout): Promise<Live<Deployment>> {
  const synced = await writer.syncRevision(rollout, false)
  const { deployment, sets } = await writer.resize(synced, computeScaling(synced.deployment, synced.sets))
  if (deployment.spec.paused === true) await writer.removeSets(computeExpiredSets(deployment, sets.old))
  return await writer.writeStatus(deployment, computeDeploymentCounts(deployment, sets, clock.now()))
}

async function rollOut(deps: ControllerDeps, writer: DeploymentWriter, rollout: Rollout): Promise<Live<Deployment>> {
  const isRecreating = rollout.deployment.spec.strategy?.type === 'Recreate'
  const stepped = isRecreating ? await recreate(deps, writer, rollout) : await roll(writer, rollout)
  const { deployment, sets } = stepped.rollout
  if (!stepped.isMoving && isComplete(deployment, deployment.status ?? {}))
    await writer.removeSets(computeExpiredSets(deployment, sets.old))
  return await writer.writeStatus(deployment, computeRolloutStatus(deployment, sets, deps.clock.now()))
}

interface Stepped {
  readonly rollout: Rollout
  /** Sets were given other sizes, or wait for pods to go. */
  readonly isMoving: boolean
}

async function roll(writer: DeploymentWriter, rollout: Rollout): Promise<Stepped> {
  const synced = await writer.syncRevision(rollout, true)
  const step = computeRollingStep(synced.deployment, synced.sets)
  return { rollout: await writer.resize(synced, step), isMoving: step.length > 0 }
}

/** Nothing new starts before the last old pod is gone. */
async function recreate(deps: ControllerDeps, writer: DeploymentWriter, rollout: Rollout): Promise<Stepped> {
  const synced = await writer.syncRevision(rollout, false)
  const old = activeOf(synced.sets.old)
  if (old.length > 0) {
    const emptied = await writer.resize(
      synced,
      old.map((set) => ({ set, size: 0 })),
    )
    return { rollout: emptied, isMoving: true }
  }
  if (hasOldPods(deps, synced.sets)) return { rollout: synced, isMoving: true }
  const made = await writer.syncRevision(synced, true)
  const { current } = made.sets
  const { replicas = 1 } = made.deployment.spec
  if (current === undefined || sizeOf(current) === replicas) return { rollout: made, isMoving: false }
  return { rollout: await writer.resize(made, [{ set: current, size: replicas }]), isMoving: true }
}

function hasOldPods({ pods }: ControllerDeps, { old }: DeploymentSets): boolean {
  return old.some(
    ({ metadata, status }) =>
      (status?.replicas ?? 0) > 0 ||
      pods.known.controlledBy(metadata.namespace, metadata.uid).some((pod) => !isTerminal(pod)),
  )
}

function matches({ spec }: Live<Deployment>, { metadata }: Live<ReplicaSet>): boolean {
  return matchesLabelSelector(spec.selector, metadata.labels ?? {})
}
