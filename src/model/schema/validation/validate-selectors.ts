import type { LabelSelector, NodeSelectorRequirement } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { dnsSubdomain, labelValue, qualifiedName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { validateLabels } from './validate-metadata.ts'

/** A selector of objects by label. */
export function validateLabelSelector(
  selector: LabelSelector | undefined,
  path: FieldPath,
  problems: ProblemList,
): void {
  validateLabels(selector?.matchLabels ?? {}, path.child('matchLabels'), problems)
  for (const [index, { key, operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const at = path.child('matchExpressions').index(index)
    problems.matches(at.child('key'), key, qualifiedName)
    problems.oneOf(at.child('operator'), operator, ['DoesNotExist', 'Exists', 'In', 'NotIn'])
    validateCount(operator, values, at.child('values'), problems)
    validateEach(values, at.child('values'), problems)
  }
}

/** One condition on the labels of a node. */
export function validateNodeRequirement(
  requirement: NodeSelectorRequirement,
  mustBeLabel: boolean,
  path: FieldPath,
  problems: ProblemList,
): void {
  const { key, operator, values = [] } = requirement
  problems.matches(path.child('key'), key, qualifiedName)
  if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) problems.required(path.child('values'), 'operators Lt and Gt need exactly one')
  } else {
    problems.oneOf(path.child('operator'), operator, ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'])
    validateCount(operator, values, path.child('values'), problems)
    if (mustBeLabel) validateEach(values, path.child('values'), problems)
  }
}

/** One condition on the fields of a node, of which only the name can be asked for. */
export function validateFieldRequirement(
  requirement: NodeSelectorRequirement,
  path: FieldPath,
  problems: ProblemList,
): void {
  const { key, operator, values = [] } = requirement
  problems.oneOf(path.child('operator'), operator, ['In', 'NotIn'])
  if (values.length !== 1) problems.required(path.child('values'), 'a field of a node is compared with exactly one')
  if (key !== 'metadata.name') problems.invalid(path.child('key'), key, 'must be metadata.name')
  for (const [index, value] of values.entries())
    problems.matches(path.child('values').index(index), value, dnsSubdomain)
}

function validateCount(operator: string, values: readonly string[], path: FieldPath, problems: ProblemList): void {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    problems.required(path, 'operators In and NotIn need values')
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    problems.forbidden(path, 'operators Exists and DoesNotExist take no values')
  }
}

function validateEach(values: readonly string[], path: FieldPath, problems: ProblemList): void {
  for (const [index, value] of values.entries()) problems.matches(path.index(index), value, labelValue)
}
