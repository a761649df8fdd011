import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { ControllerRevision, StatefulSet } from '../../../model/generated/api-groups.ts'
import type { OwnerReference, PersistentVolumeClaim, Pod } from '../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import { claimChildren, toControllerReference } from '../ownership/claim-children.ts'
import { isAlreadyThere, isNamespaceEnding } from '../../engine/api-objects.ts'
import { createController, createQueue, queueChanges, queueOwners, reconcileKnown } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import type { Live } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { sameStatus } from '../../engine/same-status.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { msUntilAvailable } from '../pods/pod-availability.ts'
import { computeExpiredRevisions, templateOf } from '../revisions/compute-revision-sync.ts'
import { RevisionCollisionError, syncRevisions } from '../revisions/sync-revisions.ts'
import type { SyncedRevisions } from '../revisions/sync-revisions.ts'
import { computeClaimOwner, computeClaimOwners } from './compute-claim-owner.ts'
import {
  computeStatefulPlan,
  computeStatefulStatus,
  isDesiredOrdinal,
  ordinalOf,
  REVISION_LABEL,
} from './compute-stateful-plan.ts'
import type { StatefulAction, StatefulInput } from './compute-stateful-plan.ts'
import { toClaims, toStatefulPod } from './stateful-pod.ts'

interface Sets extends Pick<ControllerDeps, 'clock' | 'pods' | 'claims' | 'statefulSets' | 'revisions'> {
  readonly record: RecordEvent
}

const POD_KIND = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }

/** Keeps pods with names and volumes of their own, one after the other. */
export function createStatefulSetController(deps: ControllerDeps): Controller {
  const { pods, claims, statefulSets, revisions } = deps
  const queue = createQueue('stateful-sets', deps)
  queueChanges(queue, statefulSets)
  queueOwners(queue, pods, statefulSets, isPodOf)
  queueOwners(queue, revisions, statefulSets, (set, revision) =>
    matchesLabelSelector(set.spec.selector, revision.metadata.labels ?? {}),
  )
  const record = createObjectEvents(deps.record, 'statefulset-controller', statefulSets.kind)
  return createController({
    name: 'stateful-sets',
    queue,
    reads: [pods, claims, statefulSets, revisions],
    reconcile: reconcileKnown(statefulSets, (set, signal) => reconcile({ ...deps, record }, set, signal)),
  })
}

async function reconcile(sets: Sets, set: Live<StatefulSet>, signal: AbortSignal): Promise<NextTurn> {
  const { clock, pods, statefulSets, revisions } = sets
  const { selector, template, revisionHistoryLimit = 10 } = set.spec
  const collisions = set.status?.collisionCount
  const hashLabel = 'controller.kubernetes.io/hash'
  const synced = await syncRevisions(
    { owners: statefulSets, owner: set, revisions, selector, template, collisions, hashLabel },
    signal,
  ).catch((error: unknown) => avoidCollision(sets, set, error, signal))
  const own = await claimChildren(
    { owners: statefulSets, owner: set, children: pods, matches: (pod) => isPodOf(set, pod) },
    signal,
  )
  const current = synced.all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? synced.update
  const input: StatefulInput = {
    set,
    pods: own,
    current: current.metadata.name,
    update: synced.update.metadata.name,
    now: clock.now(),
  }
  const status = computeStatefulStatus(input)
  const written = sameStatus(status, set.status) ? set : await statefulSets.updateStatus({ ...set, status }, signal)
  if (set.metadata.deletionTimestamp !== undefined) return undefined
  await fixClaims(sets, written, own, signal)
  for (const action of computeStatefulPlan(input)) await apply(sets, written, { action, current, synced }, signal)
  const used = new Set([...own.map(({ metadata }) => metadata.labels?.[REVISION_LABEL]), status.currentRevision])
  const isUsed = (each: Live<ControllerRevision>) =>
    each === synced.update || each === current || used.has(each.metadata.name)
  for (const expired of computeExpiredRevisions(synced.all, isUsed, revisionHistoryLimit))
    await revisions.remove(expired, {}, signal)
  const waits = own
    .map((pod) => msUntilAvailable(pod, set.spec.minReadySeconds ?? 0, input.now) ?? 0)
    .filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) }
}

async function avoidCollision(
  { statefulSets }: Sets,
  set: Live<StatefulSet>,
  error: unknown,
  signal: AbortSignal,
): Promise<never> {
  if (error instanceof RevisionCollisionError) {
    const status = { replicas: 0, ...set.status, collisionCount: (set.status?.collisionCount ?? 0) + 1 }
    await statefulSets.updateStatus({ ...set, status }, signal)
  }
  throw error
}

async function apply(
  sets: Sets,
  set: Live<StatefulSet>,
  step: {
    readonly action: StatefulAction
    readonly current: Live<ControllerRevision>
    readonly synced: SyncedRevisions
  },
  signal: AbortSignal,
): Promise<void> {
  const { action, current, synced } = step
  if (action.kind === 'remove') return await removePod(sets, set, action.pod, signal)
  const revision = action.revision === 'current' ? current : synced.update
  const identity = { ordinal: action.ordinal, revision: revision.metadata.name, template: templateOf(revision) }
  const pod = toStatefulPod(set, toControllerReference(sets.statefulSets.kind, set.metadata), identity)
  await ensureClaims(sets, set, action.ordinal, signal)
  await createPod(sets, set, pod, signal)
}

async function createPod({ pods, record }: Sets, set: Live<StatefulSet>, pod: Pod, signal: AbortSignal): Promise<void> {
  const name = pod.metadata?.name ?? ''
  try {
    await pods.create(set.metadata.namespace, pod, signal)
    record(set, 'Normal', 'SuccessfulCreate', `Create Pod ${name} in StatefulSet ${set.metadata.name} successful`)
  } catch (error) {
    // One that we did not know of yet: the watch shows it.
    if (signal.aborted || isAlreadyThere(error) || isNamespaceEnding(error)) throw error
    const message = `Create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${errorMessage(error)}`
    record(set, 'Warning', 'FailedCreate', message)
    throw error
  }
}

async function removePod(
  { pods, record }: Sets,
  set: Live<StatefulSet>,
  pod: Live<Pod>,
  signal: AbortSignal,
): Promise<void> {
  const { name } = pod.metadata
  try {
    await pods.remove(pod, {}, signal)
    record(set, 'Normal', 'SuccessfulDelete', `Delete Pod ${name} in StatefulSet ${set.metadata.name} successful`)
  } catch (error) {
    if (signal.aborted) throw error
    const message = `Delete Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${errorMessage(error)}`
    record(set, 'Warning', 'FailedDelete', message)
    throw error
  }
}

/** Makes the claims that are missing. A claim that is going must be gone before its pod comes back. */
async function ensureClaims(
  { claims, record }: Sets,
  set: Live<StatefulSet>,
  ordinal: number,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name: setName } = set.metadata
  for (const claim of toClaims(set, ordinal)) {
    const { name } = claim.metadata
    const present = claims.known.get(namespace, name) ?? (await claims.read(namespace, name, signal))
    if (present?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`)
    if (present !== undefined) continue
    const pod = `${setName}-${ordinal}`
    try {
      await claims.create(namespace, claim, signal)
      record(set, 'Normal', 'SuccessfulCreate', `Create Claim ${name} Pod ${pod} in StatefulSet ${setName} success`)
    } catch (error) {
      if (!signal.aborted) {
        const message = `Create Claim ${name} for Pod ${pod} in StatefulSet ${setName} failed error: ${errorMessage(error)}`
        record(set, 'Warning', 'FailedCreate', message)
      }
      throw error
    }
  }
}

/** Makes sure that claims of pods that wait exist, and that each goes with what the policy says, before any pod goes. */
async function fixClaims(
  sets: Sets,
  set: Live<StatefulSet>,
  own: readonly Live<Pod>[],
  signal: AbortSignal,
): Promise<void> {
  if ((set.spec.volumeClaimTemplates ?? []).length === 0) return
  for (const pod of own) {
    const ordinal = ordinalOf(set, pod.metadata.name)
    if (ordinal === undefined) continue
    const isWaiting = pod.status?.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined
    if (isWaiting) await ensureClaims(sets, set, ordinal, signal)
    const isSurplus = !isDesiredOrdinal(set, ordinal)
    // One that was too many when it began to end takes its claims along, also when the set grows again; upstream lets parallel sets keep them.
    const isEnding = pod.metadata.deletionTimestamp !== undefined && set.spec.podManagementPolicy !== 'Parallel'
    if (isEnding && !isSurplus) continue
    let isChanged = false
    for (const { metadata } of toClaims(set, ordinal)) {
      const claim = sets.claims.known.get(set.metadata.namespace, metadata.name)
      if (claim !== undefined && (await fixClaim(sets, set, { claim, pod, isSurplus }, signal))) isChanged = true
    }
    if (isChanged && !isSurplus && !isWaiting) {
      const message = `Update Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`
      sets.record(set, 'Normal', 'SuccessfulUpdate', message)
    }
  }
}

/** Whether the claim has other owners now. */
async function fixClaim(
  { claims, statefulSets, record }: Sets,
  set: Live<StatefulSet>,
  {
    claim,
    pod,
    isSurplus,
  }: { readonly claim: Live<PersistentVolumeClaim>; readonly pod: Live<Pod>; readonly isSurplus: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const isOurs = ({ uid, kind, name }: OwnerReference) =>
    uid === set.metadata.uid || (kind === 'Pod' && name === pod.metadata.name)
  const owner = computeClaimOwner(set, isSurplus)
  const wanted =
    owner === 'set'
      ? toControllerReference(statefulSets.kind, set.metadata)
      : owner === 'pod'
        ? toControllerReference(POD_KIND, pod.metadata)
        : undefined
  if (
    claim.metadata.ownerReferences?.some((each) => each.controller === true && !isOurs(each)) === true &&
    wanted !== undefined
  ) {
    const message = `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`
    record(set, 'Warning', 'ConflictingController', message)
    return false
  }
  const ownerReferences = computeClaimOwners(claim, wanted, isOurs)
  if (ownerReferences === undefined) return false
  await claims.patch(claim, { metadata: { ownerReferences } }, signal)
  return true
}

function isPodOf(set: Live<StatefulSet>, { metadata }: Live<Pod>): boolean {
  return ordinalOf(set, metadata.name) !== undefined && matchesLabelSelector(set.spec.selector, metadata.labels ?? {})
}
