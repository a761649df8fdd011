import type { PodDisruptionBudget } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { validateLabelSelector } from '../../../../model/schema/validation/validate-selectors.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { validateIntOrPercent } from './pod-template.ts'

const SPEC = FieldPath.root.child('spec')

export const disruptionBudgetRules: ResourceRules<ObjectOf<PodDisruptionBudget>> = {
  prepareCreate: (budget) => ({ ...budget, status: {} }),
  validate: ({ spec = {} }) => {
    const problems = new ProblemList()
    const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
    if (minAvailable !== undefined && maxUnavailable !== undefined)
      problems.invalid(SPEC, 'minAvailable', 'minAvailable and maxUnavailable cannot be both set')
    validateIntOrPercent(minAvailable, SPEC.child('minAvailable'), 100, problems)
    validateIntOrPercent(maxUnavailable, SPEC.child('maxUnavailable'), 100, problems)
    if (selector) validateLabelSelector(selector, SPEC.child('selector'), problems)
    if (unhealthyPodEvictionPolicy !== undefined)
      problems.oneOf(SPEC.child('unhealthyPodEvictionPolicy'), unhealthyPodEvictionPolicy, [
        'AlwaysAllow',
        'IfHealthyBudget',
      ])
    return problems.violations
  },
}
