import type { ReplicaSet } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { immutableSpecFields } from '../immutable-fields.ts'
import { fillTemplate, validateWorkload } from './pod-template.ts'
import { warnOfName, warnOfTemplate } from '../../warnings/warn-pod.ts'

const SPEC = FieldPath.root.child('spec')
const STATUS = FieldPath.root.child('status')

export const replicaSetRules: ResourceRules<ObjectOf<ReplicaSet>> = {
  warn: (object, before) => [
    ...(before === undefined ? warnOfName(object.metadata) : []),
    ...warnOfTemplate(object.spec?.template, SPEC.child('template'), { object, before }),
  ],
  fillDefaults: ({ spec, ...set }) => ({
    ...set,
    spec: {
      ...spec,
      selector: spec?.selector ?? {},
      replicas: spec?.replicas ?? 1,
      template: fillTemplate(spec?.template),
    },
  }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    problems.notNegative(SPEC.child('replicas'), spec?.replicas)
    problems.notNegative(SPEC.child('minReadySeconds'), spec?.minReadySeconds)
    validateWorkload(spec ?? {}, problems)
    return problems.violations
  },
  validateUpdate: (object, before) =>
    immutableSpecFields(['selector'])({ spec: { ...object.spec } }, { spec: { ...before.spec } }),
  validateStatus: ({ status }) => {
    const problems = new ProblemList()
    validateReplicaCounts(status ?? {}, problems)
    return problems.violations
  },
}

/** Counts that contradict each other come from a confused writer. */
export function validateReplicaCounts(
  status: {
    readonly replicas?: number | undefined
    readonly readyReplicas?: number | undefined
    readonly availableReplicas?: number | undefined
  },
  problems: ProblemList,
): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  for (const [name, value] of Object.entries({ replicas, readyReplicas, availableReplicas }))
    problems.notNegative(STATUS.child(name), value)
  if (readyReplicas > replicas)
    problems.invalid(STATUS.child('readyReplicas'), readyReplicas, 'cannot be greater than status.replicas')
  if (availableReplicas > readyReplicas)
    problems.invalid(STATUS.child('availableReplicas'), availableReplicas, 'cannot be greater than readyReplicas')
}
