import type { PodDisruptionBudget } from '../../model/generated/api-groups.ts'
import type { DeleteOptions, Pod } from '../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { ApiError, forbidden, notFound } from '../api-error.ts'
import { resourceOfStorage } from '../kinds/all-resources.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import type { ChangeSet } from './change-set.ts'
import { deleteObject } from './delete-object.ts'

type Budget = ObjectOf<PodDisruptionBudget>
type StoredPod = ObjectOf<Pod>

const BUDGETS = 'poddisruptionbudgets.policy'
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."
const RETRY_SECONDS = 10
// Whatever counts them has not kept up.
const MOST_DISRUPTED = 2000

/** Deletes a pod if the budget that covers it has room, and takes its place in the budget; all in one transaction. */
export function handleEviction(changes: ChangeSet, namespace: string, name: string, options: DeleteOptions): ApiObject {
  const key = { resource: 'pods', namespace, name } as const
  const pod = changes.objects.get(key)
  const resource = resourceOfStorage('pods')
  if (pod === undefined || resource === undefined) throw notFound({ group: '', resource: 'pods', name })
  if (needsBudget(pod)) takeFromBudget(changes, pod)
  // First the reason, then the end: no reader sees a pod end without it.
  if (pod.metadata.deletionTimestamp === undefined) changes.put(key, withDisruption(pod, toApiTime(changes.info.now)))
  const stored = changes.get(key)
  return stored === undefined ? pod : deleteObject(changes, resource, stored, options)
}

/** Says on a pod that stays for its grace why it ends. */
function withDisruption(pod: StoredPod, now: string): StoredPod {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: now,
  }
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition.type)
  return { ...pod, status: { ...pod.status, conditions: [...others, condition] } }
}

/** A pod that does not run, or is going anyway, is no loss. */
function needsBudget({ metadata, status }: StoredPod): boolean {
  const { phase = '' } = status ?? {}
  return metadata.deletionTimestamp === undefined && !['Pending', 'Succeeded', 'Failed'].includes(phase)
}

function takeFromBudget(changes: ChangeSet, pod: StoredPod): void {
  const { namespace = '', name = '' } = pod.metadata
  const budgets = changes.objects
    .list(BUDGETS, namespace)
    .filter(({ spec }) => matchesLabelSelector(spec?.selector, pod.metadata.labels ?? {}))
  if (budgets.length > 1)
    throw new ApiError({
      code: 500,
      reason: '',
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    })
  const [budget] = budgets
  if (budget === undefined || mayIgnore(budget, pod)) return
  checkRoom(budget, name)
  const { disruptionsAllowed = 0, disruptedPods } = budget.status ?? {}
  changes.put(
    { resource: BUDGETS, namespace, name: budget.metadata.name ?? '' },
    {
      ...budget,
      status: {
        ...budget.status,
        disruptionsAllowed: disruptionsAllowed - 1,
        disruptedPods: { ...disruptedPods, [name]: toApiTime(changes.info.now) },
      },
    },
  )
}

/** A pod that is not ready counts for nothing, as long as those that are ready are enough. */
function mayIgnore({ spec, status }: Budget, pod: StoredPod): boolean {
  const isReady =
    pod.status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  if (isReady) return false
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

function checkRoom({ metadata, status = {} }: Budget, podName: string): void {
  const { name = '' } = metadata
  const { disruptionsAllowed = 0, disruptedPods = {}, observedGeneration = 0 } = status
  if (Number(observedGeneration) < Number(metadata.generation ?? 0)) {
    const message = `The disruption budget ${name} is still being processed by the server.`
    throw tooMany(podName, message, RETRY_SECONDS)
  }
  if (disruptionsAllowed < 0)
    throw forbidden({ group: 'policy', resource: 'poddisruptionbudgets', name }, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > MOST_DISRUPTED) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    throw forbidden({ group: 'policy', resource: 'poddisruptionbudgets', name }, why)
  }
  if (disruptionsAllowed > 0) return
  const { desiredHealthy = 0, currentHealthy = 0 } = status
  const message = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  throw tooMany(podName, message, undefined)
}

function tooMany(name: string, message: string, retryAfterSeconds: number | undefined): ApiError {
  const causes = [{ reason: 'DisruptionBudget', message }]
  const details = { name, kind: 'pods', causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  return new ApiError({ code: 429, reason: 'TooManyRequests', message: REFUSAL, details })
}
