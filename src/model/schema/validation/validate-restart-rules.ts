import type { Container } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import type { ProblemList } from './problem-list.ts'

const MAX_RULES = 20
const MAX_EXIT_CODES = 255

/** A container's own restart policy and its rules by exit code. */
export function validateRestartRules(container: Container, path: FieldPath, problems: ProblemList): void {
  const rules = container.restartPolicyRules ?? []
  const at = path.child('restartPolicyRules')
  if (container.restartPolicy !== undefined) {
    problems.oneOf(path.child('restartPolicy'), container.restartPolicy, ['Always', 'Never', 'OnFailure'])
  } else if (rules.length > 0) problems.required(path.child('restartPolicy'), 'restart rules need it')
  if (rules.length > MAX_RULES) problems.tooMany(at, rules.length, MAX_RULES)
  for (const [index, rule] of rules.entries()) {
    problems.oneOf(at.index(index).child('action'), rule.action, ['Restart', 'RestartAllContainers'])
    const codes = at.index(index).child('exitCodes')
    if (rule.exitCodes === undefined) {
      problems.required(codes, 'a rule needs them')
      continue
    }
    problems.oneOf(codes.child('operator'), rule.exitCodes.operator, ['In', 'NotIn'])
    const count = rule.exitCodes.values?.length ?? 0
    if (count > MAX_EXIT_CODES) problems.tooMany(codes.child('values'), count, MAX_EXIT_CODES)
  }
}
