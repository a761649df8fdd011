import type { ResourceQuota } from '../../model/generated/core-v1.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { tryParseQuantity } from '../../model/resources/quantity.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { qualifiedName } from '../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../model/schema/validation/problem-list.ts'
import type { ResourceRules } from '../kinds/resource.ts'
import type { TableColumns } from '../kinds/table-columns.ts'
import { ageOf, columnsOf } from '../kinds/table-columns.ts'
import type { ObjectOf } from '../store/api-object.ts'

type Quota = ObjectOf<ResourceQuota>

const SPEC = FieldPath.root.child('spec')
const STANDARD =
  /^(?:(?:requests\.|limits\.)?(?:cpu|memory|ephemeral-storage)|pods|services|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|requests\.storage|services\.nodeports|services\.loadbalancers|(?:requests\.)?hugepages-.+)$/
const SCOPES = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
]
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const
const OPERATORS = ['DoesNotExist', 'Exists', 'In', 'NotIn']
const COMPUTE = /^(?:pods|(?:requests\.|limits\.)?(?:cpu|memory|ephemeral-storage))$/

export const quotaRules: ResourceRules<Quota> = {
  validate: ({ spec }) => {
    const problems = new ProblemList()
    const { hard = {}, scopes = [], scopeSelector } = spec ?? {}
    for (const [name, amount] of Object.entries(hard)) {
      const path = SPEC.child('hard').key(name)
      if (qualifiedName(name) !== undefined) problems.matches(path, name, qualifiedName)
      else if (!name.includes('/') && !STANDARD.test(name)) {
        problems.invalid(path, name, 'must be a standard resource for quota')
      }
      const quantity = tryParseQuantity(amount)
      if (quantity !== undefined && quantity.nanos < 0n)
        problems.invalid(path, amount, 'must be greater than or equal to 0')
    }
    for (const scope of scopes) validateScope(scope, Object.keys(hard), SPEC.child('scopes'), problems)
    if (CONFLICTS.some((pair) => pair.every((scope) => scopes.includes(scope)))) {
      problems.invalid(SPEC.child('scopes'), scopes, 'conflicting scopes')
    }
    const path = SPEC.child('scopeSelector').child('matchExpressions')
    for (const { scopeName, operator, values = [] } of scopeSelector?.matchExpressions ?? []) {
      validateScope(scopeName, Object.keys(hard), path.child('scopeName'), problems)
      problems.oneOf(path.child('operator'), operator, OPERATORS)
      const takesValues = operator === 'In' || operator === 'NotIn'
      if (takesValues && values.length === 0) {
        problems.required(
          path.child('values'),
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        )
      }
      if (!takesValues && values.length > 0) {
        problems.invalid(
          path.child('values'),
          values,
          "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector",
        )
      }
    }
    return problems.violations
  },
  validateUpdate: ({ spec }, before): readonly Violation[] => {
    const problems = new ProblemList()
    if (!sameValue([...(spec?.scopes ?? [])].sort(), [...(before.spec?.scopes ?? [])].sort())) {
      problems.invalid(SPEC.child('scopes'), spec?.scopes ?? [], 'field is immutable')
    }
    return problems.violations
  },
}

function validateScope(scope: string, hard: readonly string[], path: FieldPath, problems: ProblemList): void {
  if (!SCOPES.includes(scope)) return problems.invalid(path, scope, 'unsupported scope')
  const isFine = (name: string) => (scope === 'BestEffort' ? name === 'pods' : COMPUTE.test(name))
  if (!hard.every(isFine)) problems.invalid(path, scope, 'unsupported scope applied to resource')
}

export const quotaColumns: TableColumns<Quota> = {
  columns: columnsOf('Name', 'Request', 'Limit', 'Age'),
  cells: (quota, now) => {
    const { hard = {}, used = {} } = quota.status ?? {}
    const shown = (isLimit: boolean) =>
      Object.keys(hard)
        .filter((name) => name.startsWith('limits') === isLimit)
        .toSorted()
        .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
        .join(', ')
    return [quota.metadata.name ?? '', shown(false), shown(true), ageOf(quota, now)]
  },
}
