import type { NodeSelector, NodeSelectorRequirement } from '../../generated/core-v1.ts'
import { matchesRequirement } from './matches-requirement.ts'

/** What selectors read of a node. */
export interface SelectableNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** True when one of the terms fits: all of its requirements. A term that says nothing fits no node, and neither does one that makes no sense. */
export function matchesNodeSelector({ nodeSelectorTerms }: NodeSelector, { name, labels }: SelectableNode): boolean {
  const own = new Map(Object.entries(labels))
  const fields = new Map([['metadata.name', name]])
  return nodeSelectorTerms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.length + matchFields.length > 0 &&
      matchExpressions.every((requirement) => matches(requirement, own)) &&
      matchFields.every((requirement) => fields.has(requirement.key) && matches(requirement, fields)),
  )
}

function matches(requirement: NodeSelectorRequirement, labels: ReadonlyMap<string, string>): boolean {
  const { key, operator, values = [] } = requirement
  switch (operator) {
    case 'Gt':
      return compare(labels.get(key), values, (a, b) => a > b)
    case 'Lt':
      return compare(labels.get(key), values, (a, b) => a < b)
    default:
      return matchesRequirement(requirement, labels)
  }
}

const INTEGER = /^[+-]?\d{1,19}$/

function compare(
  value: string | undefined,
  values: readonly string[],
  isIn: (value: bigint, bound: bigint) => boolean,
): boolean {
  const [bound = ''] = values
  if (values.length !== 1 || value === undefined || !INTEGER.test(value) || !INTEGER.test(bound)) return false
  return isIn(toInteger(value), toInteger(bound))
}

/** BigInt() takes no plus sign. */
function toInteger(text: string): bigint {
  return BigInt(text.startsWith('+') ? text.slice(1) : text)
}
