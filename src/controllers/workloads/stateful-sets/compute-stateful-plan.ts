import type { StatefulSet, StatefulSetStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { isAvailable, isReady, isTerminal } from '../pods/pod-availability.ts'

export const REVISION_LABEL = 'controller-revision-hash'

/** What is done next for a set. */
export type StatefulAction =
  | { readonly kind: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  | { readonly kind: 'remove'; readonly pod: Live<Pod>; readonly isSurplus: boolean }

export interface StatefulInput {
  readonly set: Live<StatefulSet>
  readonly pods: readonly Live<Pod>[]
  /** Names of the revisions that the pods of the set have, or will have. */
  readonly current: string
  readonly update: string
  readonly now: number
}

/** The number behind the name of a set; undefined when a pod has none. */
export function ordinalOf({ metadata }: Live<StatefulSet>, podName: string): number | undefined {
  const text = podName.startsWith(`${metadata.name}-`) ? podName.slice(metadata.name.length + 1) : ''
  return /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined
}

function firstOrdinal({ spec }: Live<StatefulSet>): number {
  return spec.ordinals?.start ?? 0
}

/** The ordinals that a set asks for. */
export function isDesiredOrdinal(set: Live<StatefulSet>, ordinal: number): boolean {
  const first = firstOrdinal(set)
  return ordinal >= first && ordinal < first + (set.spec.replicas ?? 1)
}

/** All that may be done at once: one thing after the other where the set is ordered. */
export function computeStatefulPlan(input: StatefulInput): readonly StatefulAction[] {
  const { set } = input
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel'
  const kept = computeKept(input, isOrdered)
  if (kept.isBlocked) return kept.actions
  const surplus = computeSurplus(input, isOrdered)
  if (surplus.isBlocked || set.spec.updateStrategy?.type === 'OnDelete') return [...kept.actions, ...surplus.actions]
  return [...kept.actions, ...surplus.actions, ...computeUpdate(input, kept.actions)]
}

interface Steps {
  readonly actions: readonly StatefulAction[]
  /** Nothing else may be done before these have had their effect. */
  readonly isBlocked: boolean
}

/** Upwards: what is missing is made, what has ended is removed; an ordered set waits for each. */
function computeKept(input: StatefulInput, isOrdered: boolean): Steps {
  const { set, pods } = input
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod.metadata.name), pod]))
  const actions: StatefulAction[] = []
  const first = firstOrdinal(set)
  for (let ordinal = first; ordinal < first + (set.spec.replicas ?? 1); ordinal += 1) {
    const pod = byOrdinal.get(ordinal)
    if (pod === undefined) actions.push({ kind: 'create', ordinal, revision: revisionFor(input, ordinal) })
    else if (isTerminal(pod) && !isLeaving(pod)) actions.push({ kind: 'remove', pod, isSurplus: false })
    else if (isHealthy(input, pod) || !isOrdered) continue
    if (isOrdered) return { actions, isBlocked: true }
  }
  return { actions, isBlocked: false }
}

/** Downwards: what is beyond the range goes; of an ordered set only when all below are well. */
function computeSurplus(input: StatefulInput, isOrdered: boolean): Steps {
  const { set, pods } = input
  const surplus = pods
    .filter((pod) => !isDesiredOrdinal(set, ordinalOf(set, pod.metadata.name) ?? -1))
    .toSorted((a, b) => (ordinalOf(set, b.metadata.name) ?? 0) - (ordinalOf(set, a.metadata.name) ?? 0))
  const firstUnhealthy = surplus.findLast((pod) => !isRunning(pod))
  const actions: StatefulAction[] = []
  for (const pod of surplus) {
    if (isOrdered && (isLeaving(pod) || (!isRunning(pod) && pod !== firstUnhealthy)))
      return { actions, isBlocked: true }
    if (isLeaving(pod)) continue
    actions.push({ kind: 'remove', pod, isSurplus: true })
    if (isOrdered) return { actions, isBlocked: true }
  }
  return { actions, isBlocked: false }
}

/** From the highest ordinal down to the partition, one at a time, each when the ones above are well. */
function computeUpdate(input: StatefulInput, earlier: readonly StatefulAction[]): readonly StatefulAction[] {
  const { set, pods, update } = input
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0
  const least = firstOrdinal(set) + partition
  const kept = pods
    .map((pod) => ({ pod, ordinal: ordinalOf(set, pod.metadata.name) ?? -1 }))
    .filter(({ ordinal }) => isDesiredOrdinal(set, ordinal) && ordinal >= least)
    .toSorted((a, b) => b.ordinal - a.ordinal)
  for (const { pod } of kept) {
    if (earlier.some((action) => action.kind === 'remove' && action.pod === pod)) return []
    if (revisionOf(pod) !== update && !isLeaving(pod)) return [{ kind: 'remove', pod, isSurplus: false }]
    if (!isHealthy(input, pod)) return []
  }
  return []
}

function revisionFor({ set }: StatefulInput, ordinal: number): 'current' | 'update' {
  const { updateStrategy } = set.spec
  if (updateStrategy?.type === 'OnDelete') return 'update'
  const held = updateStrategy?.rollingUpdate?.partition ?? set.status?.currentReplicas ?? 0
  return ordinal < firstOrdinal(set) + held ? 'current' : 'update'
}

function revisionOf({ metadata }: Live<Pod>): string | undefined {
  return metadata.labels?.[REVISION_LABEL]
}

function isLeaving({ metadata }: Live<Pod>): boolean {
  return metadata.deletionTimestamp !== undefined
}

function isRunning(pod: Live<Pod>): boolean {
  return !isLeaving(pod) && pod.status?.phase === 'Running' && isReady(pod)
}

function isHealthy({ set, now }: StatefulInput, pod: Live<Pod>): boolean {
  return isRunning(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, now)
}

export function computeStatefulStatus(input: StatefulInput): StatefulSetStatus {
  const { set, pods, current, update, now } = input
  const { replicas = 1, updateStrategy, minReadySeconds = 0 } = set.spec
  const of = (revision: string) => pods.filter((pod) => !isLeaving(pod) && revisionOf(pod) === revision).length
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod))
  const status: StatefulSetStatus = {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: of(current),
    updatedReplicas: of(update),
    currentRevision: current,
    updateRevision: update,
    collisionCount: set.status?.collisionCount ?? 0,
  }
  const isDone =
    updateStrategy?.type !== 'OnDelete' &&
    status.updatedReplicas === replicas &&
    status.readyReplicas === replicas &&
    status.replicas === replicas
  return isDone ? { ...status, currentRevision: update, currentReplicas: status.updatedReplicas } : status
}
