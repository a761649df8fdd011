import type { LabelSelector, LabelSelectorRequirement } from '../../generated/core-v1.ts'

/** True when the labels have all that is asked for. No selector fits nothing; one that asks for nothing fits everything. */
export function matchesLabelSelector(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (selector === undefined) return false
  const own = new Map(Object.entries(labels))
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => own.get(key) === value) &&
    matchExpressions.every((requirement) => matches(requirement, own))
  )
}

function matches(
  { key, operator, values = [] }: LabelSelectorRequirement,
  labels: ReadonlyMap<string, string>,
): boolean {
  const value = labels.get(key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}
