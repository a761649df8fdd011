import type { Deployment, DeploymentCondition, DeploymentStatus } from '../../../model/generated/api-groups.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeRolloutLimits } from './compute-rollout-limits.ts'
import { allOf, availableIn, totalSize } from './deployment-sets.ts'
import type { DeploymentSets } from './deployment-sets.ts'

type Condition = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>

const NO_DEADLINE = 2 ** 31 - 1
const COMPLETE = 'NewReplicaSetAvailable'
const TIMED_OUT = 'ProgressDeadlineExceeded'
const PAUSED = 'DeploymentPaused'

export function hasDeadline({ spec }: Live<Deployment>): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_DEADLINE
}

/** The numbers of a deployment and whether enough of its pods are available; how it progresses is left as it is. */
export function computeDeploymentCounts(
  deployment: Live<Deployment>,
  sets: DeploymentSets,
  now: number,
): DeploymentStatus {
  const { metadata, spec, status = {} } = deployment
  const all = allOf(sets)
  const sum = (count: (set: (typeof all)[number]) => number) => all.reduce((total, set) => total + count(set), 0)
  const availableReplicas = availableIn(all)
  const isAvailable = availableReplicas >= (spec.replicas ?? 1) - computeRolloutLimits(spec).unavailable
  const available: Condition = isAvailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      }
  return {
    observedGeneration: metadata.generation,
    replicas: sum((set) => set.status?.replicas ?? 0),
    updatedReplicas: sets.current?.status?.replicas ?? 0,
    readyReplicas: sum((set) => set.status?.readyReplicas ?? 0),
    availableReplicas,
    unavailableReplicas: Math.max(0, totalSize(all) - availableReplicas),
    terminatingReplicas: sum((set) => set.status?.terminatingReplicas ?? 0),
    ...(status.collisionCount !== undefined && { collisionCount: status.collisionCount }),
    conditions: withCondition(status.conditions ?? [], available, now),
  }
}

/** The whole status, with how far the rollout is. */
export function computeRolloutStatus(
  deployment: Live<Deployment>,
  sets: DeploymentSets,
  now: number,
): DeploymentStatus {
  const counted = computeDeploymentCounts(deployment, sets, now)
  const conditions = withFailure(computeProgress(deployment, counted, sets, now), sets, now)
  return { ...counted, conditions }
}

/** Whether everything that was asked for is there and nothing else. */
export function isComplete({ metadata, spec }: Live<Deployment>, status: DeploymentStatus): boolean {
  const { replicas = 1 } = spec
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    Number(status.observedGeneration ?? 0) >= Number(metadata.generation ?? 0)
  )
}

function computeProgress(
  deployment: Live<Deployment>,
  counted: DeploymentStatus,
  sets: DeploymentSets,
  now: number,
): readonly DeploymentCondition[] {
  const conditions = counted.conditions ?? []
  if (!hasDeadline(deployment)) return conditions.filter(({ type }) => type !== 'Progressing')
  const present = conditions.find(({ type }) => type === 'Progressing')
  // A rollout that is finished cannot be late, whatever becomes of its pods.
  if (counted.replicas === counted.updatedReplicas && present?.reason === COMPLETE) return conditions
  const subject =
    sets.current === undefined
      ? `Deployment "${deployment.metadata.name}"`
      : `ReplicaSet "${sets.current.metadata.name}"`
  const type = 'Progressing'
  if (isComplete(deployment, counted)) {
    const message = `${subject} has successfully progressed.`
    return withCondition(conditions, { type, status: 'True', reason: COMPLETE, message }, now)
  }
  if (hasProgressed(deployment.status ?? {}, counted)) {
    const message = `${subject} is progressing.`
    const progress = { type, status: 'True', reason: 'ReplicaSetUpdated', message }
    // The clock of the deadline begins again with every step.
    return withCondition(conditions, progress, now, true)
  }
  if (!isLate(deployment, present, now)) return conditions
  const message = `${subject} has timed out progressing.`
  return withCondition(conditions, { type, status: 'False', reason: TIMED_OUT, message }, now)
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

function isLate(deployment: Live<Deployment>, present: DeploymentCondition | undefined, now: number): boolean {
  if (present === undefined || present.reason === COMPLETE) return false
  return present.reason === TIMED_OUT || msUntilLate(deployment, present, now) < 0
}

function msUntilLate({ spec }: Live<Deployment>, { lastUpdateTime }: DeploymentCondition, now: number): number {
  return Date.parse(lastUpdateTime ?? '') + (spec.progressDeadlineSeconds ?? 0) * 1000 - now
}

/** When a rollout that does not move has to be found late; undefined when it cannot be. */
export function computeDeadlineCheck(deployment: Live<Deployment>, now: number): number | undefined {
  const { status = {} } = deployment
  const present = status.conditions?.find(({ type }) => type === 'Progressing')
  if (present === undefined || !hasDeadline(deployment) || deployment.spec.paused === true) return undefined
  if (present.reason === TIMED_OUT || present.reason === COMPLETE || isComplete(deployment, status)) return undefined
  const ms = msUntilLate(deployment, present, now)
  return Number.isNaN(ms) ? undefined : Math.max(0, ms) + 1000
}

/** What pausing and resuming says about the progress; undefined when nothing is new. */
export function computePauseConditions(
  deployment: Live<Deployment>,
  now: number,
): readonly DeploymentCondition[] | undefined {
  if (!hasDeadline(deployment)) return undefined
  const conditions = deployment.status?.conditions ?? []
  const present = conditions.find(({ type }) => type === 'Progressing')
  if (present?.reason === TIMED_OUT) return undefined
  const isPaused = deployment.spec.paused === true
  const base = { type: 'Progressing', status: 'Unknown' }
  if (isPaused && present?.reason !== PAUSED)
    return withCondition(conditions, { ...base, reason: PAUSED, message: 'Deployment is paused' }, now)
  if (!isPaused && present?.reason === PAUSED)
    return withCondition(conditions, { ...base, reason: 'DeploymentResumed', message: 'Deployment is resumed' }, now)
  return undefined
}

/** A set that cannot make its pods makes its deployment fail the same way. */
function withFailure(
  conditions: readonly DeploymentCondition[],
  { current, old }: DeploymentSets,
  now: number,
): readonly DeploymentCondition[] {
  const failures = [current, ...old].flatMap(
    (set) => set?.status?.conditions?.filter(({ type }) => type === 'ReplicaFailure') ?? [],
  )
  const [first] = failures
  if (first === undefined) return conditions.filter(({ type }) => type !== 'ReplicaFailure')
  const { type, status, reason, message } = first
  return withCondition(conditions, { type, status, reason, message }, now)
}

/** Sets a condition; one that says the same stays as it is, unless its time counts. */
export function withCondition(
  conditions: readonly DeploymentCondition[],
  condition: Condition,
  now: number,
  isRefreshed = false,
): readonly DeploymentCondition[] {
  const present = conditions.find(({ type }) => type === condition.type)
  if (present?.status === condition.status && present.reason === condition.reason && !isRefreshed) return conditions
  const time = toApiTime(now)
  const lastTransitionTime = present?.status === condition.status ? present.lastTransitionTime : time
  return [
    ...conditions.filter(({ type }) => type !== condition.type),
    { ...condition, lastUpdateTime: time, lastTransitionTime },
  ]
}
