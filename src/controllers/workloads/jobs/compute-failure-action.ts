import type { Job, PodFailurePolicyRule } from '../../../model/generated/api-groups.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'

export interface FailureAction {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore'
  /** Why the Job fails. */
  readonly message: string
}

const COUNT: FailureAction = { action: 'Count', message: '' }

/** What a failed pod means by the first rule of the policy that fits it. */
export function computeFailureAction({ spec }: Live<Job>, pod: Live<Pod>): FailureAction {
  // A pod that is still ending may yet say something else.
  if (pod.status?.phase !== 'Failed') return COUNT
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const why = findMatch(rule, pod)
    if (why === undefined) continue
    const action = rule.action as FailureAction['action']
    return { action, message: `${why} matching ${action} rule at index ${index}` }
  }
  return COUNT
}

function findMatch({ onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, pod: Live<Pod>): string | undefined {
  const { namespace, name } = pod.metadata
  for (const { type, status = 'True' } of onPodConditions) {
    if (pod.status?.conditions?.some((each) => each.type === type && each.status === status))
      return `Pod ${namespace}/${name} has condition ${type}`
  }
  if (onExitCodes === undefined) return undefined
  const { operator, values, containerName } = onExitCodes
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  for (const { name: container, state } of statuses) {
    const code = state?.terminated?.exitCode ?? 0
    if (code === 0 || (containerName !== undefined && containerName !== container)) continue
    if (values.includes(code) === (operator === 'In'))
      return `Container ${container} for pod ${namespace}/${name} failed with exit code ${code}`
  }
  return undefined
}
