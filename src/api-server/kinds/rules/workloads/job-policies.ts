import type { JobSpec } from '../../../../model/generated/api-groups.ts'
import type { FieldPath } from '../../../../model/schema/field-path.ts'
import type { ProblemList } from '../../../../model/schema/validation/problem-list.ts'

const MOST_RULES = 20
const MOST_CODES = 255
const INDEXES = /^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/

/** What failures of pods mean for their Job. */
export function validateFailurePolicy(spec: JobSpec, path: FieldPath, problems: ProblemList): void {
  const rules = spec.podFailurePolicy?.rules ?? []
  if (rules.length > MOST_RULES) problems.tooMany(path.child('rules'), rules.length, MOST_RULES)
  if (spec.template.spec?.restartPolicy !== 'Never')
    problems.invalid(
      path,
      spec.template.spec?.restartPolicy,
      'only "Never" restart policy is supported with podFailurePolicy',
    )
  if (spec.podReplacementPolicy !== 'Failed')
    problems.invalid(path, spec.podReplacementPolicy, 'podReplacementPolicy must be Failed with podFailurePolicy')
  const { containers = [], initContainers = [] } = spec.template.spec ?? {}
  const names = [...containers, ...initContainers].map(({ name }) => name)
  for (const [index, { action, onExitCodes, onPodConditions = [] }] of rules.entries()) {
    const at = path.child('rules').index(index)
    problems.oneOf(at.child('action'), action, ['Count', 'FailIndex', 'FailJob', 'Ignore'])
    if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
      problems.invalid(at.child('action'), action, 'requires the backoffLimitPerIndex to be set')
    if ((onExitCodes === undefined) === (onPodConditions.length === 0))
      problems.invalid(at, action, 'specify exactly one of onExitCodes and onPodConditions')
    if (onPodConditions.length > MOST_RULES)
      problems.tooMany(at.child('onPodConditions'), onPodConditions.length, MOST_RULES)
    if (onExitCodes === undefined) continue
    const { operator, values, containerName } = onExitCodes
    const codes = at.child('onExitCodes')
    problems.oneOf(codes.child('operator'), operator, ['In', 'NotIn'])
    if (values.length === 0) problems.required(codes.child('values'), 'at least one')
    if (values.length > MOST_CODES) problems.tooMany(codes.child('values'), values.length, MOST_CODES)
    if (operator === 'In' && values.includes(0))
      problems.invalid(codes.child('values'), 0, 'must not be 0 for the In operator')
    if (values.some((value, position) => position > 0 && value <= (values[position - 1] ?? 0)))
      problems.invalid(codes.child('values'), values, 'must be ordered and unique')
    if (containerName !== undefined && !names.includes(containerName))
      problems.invalid(codes.child('containerName'), containerName, 'must be one of the containers of the template')
  }
}

/** Which indexes are enough for an indexed Job. */
export function validateSuccessPolicy(spec: JobSpec, path: FieldPath, problems: ProblemList): void {
  const { completions = 0, completionMode, successPolicy } = spec
  const rules = successPolicy?.rules ?? []
  if (completionMode !== 'Indexed') problems.invalid(path, completionMode, 'requires indexed completion mode')
  if (rules.length === 0) problems.required(path.child('rules'), 'at least one')
  if (rules.length > MOST_RULES) problems.tooMany(path.child('rules'), rules.length, MOST_RULES)
  for (const [index, { succeededCount, succeededIndexes }] of rules.entries()) {
    const at = path.child('rules').index(index)
    if (succeededCount === undefined && succeededIndexes === undefined)
      problems.required(at, 'at least one of succeededCount and succeededIndexes')
    if (succeededCount !== undefined && (succeededCount < 1 || succeededCount > completions))
      problems.invalid(at.child('succeededCount'), succeededCount, 'must be between 1 and completions')
    if (succeededIndexes !== undefined && !INDEXES.test(succeededIndexes))
      problems.invalid(at.child('succeededIndexes'), succeededIndexes, 'must be indexes and ranges such as "0,2-4"')
  }
}
