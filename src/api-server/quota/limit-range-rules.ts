import type { LimitRange, LimitRangeItem } from '../../model/generated/core-v1.ts'
import { tryParseQuantity } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { qualifiedName } from '../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { ResourceRules } from '../kinds/resource.ts'
import type { ObjectOf } from '../store/api-object.ts'

const STANDARD_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']
const LIMITS = FieldPath.root.child('spec').child('limits')

/** What is not said about containers follows from what is: the limit from the largest one, the request from the limit or the smallest. */
export const limitRangeRules: ResourceRules<ObjectOf<LimitRange>> = {
  fillDefaults: (range) => ({
    ...range,
    ...(range.spec && { spec: { ...range.spec, limits: range.spec.limits.map(fillItem) } }),
  }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    const types = new Set<string>()
    for (const [index, item] of (spec?.limits ?? []).entries()) {
      const path = LIMITS.index(index)
      if (types.has(item.type)) problems.duplicate(path.child('type'), item.type)
      types.add(item.type)
      validateItem(item, path, problems)
    }
    return problems.violations
  },
}

function fillItem(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item
  const limits = { ...item.max, ...item.default }
  const requests = { ...item.min, ...limits, ...item.defaultRequest }
  return {
    ...item,
    ...(Object.keys(limits).length > 0 && { default: limits }),
    ...(Object.keys(requests).length > 0 && { defaultRequest: requests }),
  }
}

function validateItem(item: LimitRangeItem, path: FieldPath, problems: ProblemList): void {
  const {
    type,
    min = {},
    max = {},
    default: limits = {},
    defaultRequest: requests = {},
    maxLimitRequestRatio: ratios = {},
  } = item
  if (!STANDARD_TYPES.includes(type)) problems.matches(path.child('type'), type, qualifiedName)
  if (type === 'Pod') {
    if (Object.keys(limits).length > 0)
      problems.forbidden(path.child('default'), "may not be specified when `type` is 'Pod'")
    if (Object.keys(requests).length > 0) {
      problems.forbidden(path.child('defaultRequest'), "may not be specified when `type` is 'Pod'")
    }
  }
  if (type === 'PersistentVolumeClaim' && min['storage'] === undefined && max['storage'] === undefined) {
    problems.required(
      path.child('limits'),
      'either minimum or maximum storage value is required, but neither was provided',
    )
  }
  const names = new Set([min, max, limits, requests, ratios].flatMap((map) => Object.keys(map)))
  for (const name of names) {
    const order = (field: string, [low, lowName]: Named, [high, highName]: Named) => {
      const [a, b] = [low[name], high[name]]
      if (a === undefined || b === undefined || !isMore(a, b)) return
      problems.invalid(path.child(field).key(name), a, `${lowName} value ${a} is greater than ${highName} value ${b}`)
    }
    order('min', [min, 'min'], [max, 'max'])
    order('defaultRequest', [min, 'min'], [requests, 'default request'])
    order('defaultRequest', [requests, 'default request'], [max, 'max'])
    order('defaultRequest', [requests, 'default request'], [limits, 'default limit'])
    order('default', [min, 'min'], [limits, 'default'])
    order('default', [limits, 'default'], [max, 'max'])
    const ratio = ratios[name]
    if (ratio !== undefined && isMore('1', ratio)) {
      problems.invalid(path.child('maxLimitRequestRatio').key(name), ratio, `ratio ${ratio} is less than 1`)
    }
  }
}

type Named = readonly [amounts: Readonly<Record<string, string>>, name: string]

function isMore(a: string, b: string): boolean {
  const [left, right]: readonly (Quantity | undefined)[] = [tryParseQuantity(a), tryParseQuantity(b)]
  return left !== undefined && right !== undefined && left.nanos > right.nanos
}
