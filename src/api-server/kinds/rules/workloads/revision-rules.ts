import type { ControllerRevision } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { immutablePart } from '../immutable-fields.ts'

/** An earlier template of a workload, which cannot change. */
export const controllerRevisionRules: ResourceRules<ObjectOf<ControllerRevision>> = {
  validate: ({ data, revision }) => {
    const problems = new ProblemList()
    problems.notNegative(FieldPath.root.child('revision'), revision)
    if (data === undefined) problems.required(FieldPath.root.child('data'), 'data is mandatory')
    return problems.violations
  },
  validateUpdate: immutablePart('data'),
}
