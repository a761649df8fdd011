import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import type { Live } from '../../engine/live-object.ts'
import { isAvailable, isReady } from '../pods/pod-availability.ts'

export interface ReplicaSetObservation {
  /** As they were before this pass changed their number. */
  readonly active: readonly Live<Pod>[]
  readonly terminating: number
  /** What kept this pass from creating or deleting pods. */
  readonly failure: { readonly reason: 'FailedCreate' | 'FailedDelete'; readonly message: string } | undefined
  readonly now: number
}

export function computeReplicaSetStatus(
  { metadata, spec, status }: Live<ReplicaSet>,
  { active, terminating, failure, now }: ReplicaSetObservation,
): ReplicaSetStatus {
  const labels = Object.entries(spec.template?.metadata?.labels ?? {})
  const isFullyLabeled = ({ metadata: { labels: own = {} } }: Live<Pod>) =>
    labels.every(([key, value]) => own[key] === value)
  const conditions = computeConditions(status?.conditions ?? [], failure, now)
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(isFullyLabeled).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now)).length,
    terminatingReplicas: terminating,
    observedGeneration: metadata.generation,
    ...(conditions.length > 0 && { conditions }),
  }
}

/** A failure is reported while it lasts, in the words of its beginning. */
function computeConditions(
  before: readonly ReplicaSetCondition[],
  failure: ReplicaSetObservation['failure'],
  now: number,
): readonly ReplicaSetCondition[] {
  const others = before.filter(({ type }) => type !== 'ReplicaFailure')
  if (failure === undefined) return others
  const present = before.find(({ type }) => type === 'ReplicaFailure')
  return [
    ...others,
    present ?? { type: 'ReplicaFailure', status: 'True', ...failure, lastTransitionTime: toApiTime(now) },
  ]
}
