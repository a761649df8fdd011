import type { LabelSelector, PodTemplateSpec } from '../../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../../model/pod/matching/matches-label-selector.ts'
import { defaultTemplate } from '../../../../model/schema/default-pod.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { validatePod } from '../../../../model/schema/validate-pod.ts'
import { POD_RULES } from '../pods/pod-rules.ts'
import type { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { validateLabelSelector } from '../../../../model/schema/validation/validate-selectors.ts'

const SPEC = FieldPath.root.child('spec')

/** The template of pods with its defaults. */
export function fillTemplate(template: PodTemplateSpec = {}): PodTemplateSpec {
  const { metadata = {}, spec = { containers: [] } } = template
  return { ...template, metadata, spec: defaultTemplate(spec) }
}

/** The rules of a pod, without those for its name, and the restart policies that its controller can work with. */
export function validateTemplate(
  template: PodTemplateSpec,
  path: FieldPath,
  restartPolicies: readonly string[],
  problems: ProblemList,
): void {
  const { metadata = {}, spec = { containers: [] } } = template
  // A pod of it gets its name later.
  const named = { ...metadata, name: 'pod', namespace: 'default' }
  problems.violations.push(...validatePod({ metadata: named, spec }, path, POD_RULES))
  const policy = spec.restartPolicy ?? ''
  if (!restartPolicies.includes(policy))
    problems.unsupported(path.child('spec').child('restartPolicy'), policy, restartPolicies)
}

/** What holds for all kinds that keep pods running for ever. */
export function validateWorkload(
  spec: { readonly selector?: LabelSelector | undefined; readonly template?: PodTemplateSpec | undefined },
  problems: ProblemList,
): void {
  const { selector, template = {} } = spec
  const path = SPEC.child('selector')
  if (selector === undefined) problems.required(path)
  else {
    validateLabelSelector(selector, path, problems)
    const isEmpty =
      Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
    if (isEmpty) problems.invalid(path, selector, 'empty selector is invalid')
    const labels = template.metadata?.labels ?? {}
    if (!isEmpty && !matchesLabelSelector(selector, labels))
      problems.invalid(
        SPEC.child('template').child('metadata').child('labels'),
        labels,
        '`selector` does not match template `labels`',
      )
  }
  validateTemplate(template, SPEC.child('template'), ['Always'], problems)
  if (template.spec?.activeDeadlineSeconds !== undefined)
    problems.forbidden(
      SPEC.child('template').child('spec').child('activeDeadlineSeconds'),
      'activeDeadlineSeconds in this kind is not supported',
    )
}

/** A number of pods, or a part of a total. */
export function validateIntOrPercent(
  value: number | string | undefined,
  path: FieldPath,
  most: number | undefined,
  problems: ProblemList,
): void {
  if (value === undefined) return
  if (typeof value === 'number') problems.notNegative(path, value)
  else if (!/^\d+%$/.test(value))
    problems.invalid(path, value, "a valid percent string must be a numeric string followed by an ending '%'")
  else if (most !== undefined && Number(value.slice(0, -1)) > most)
    problems.invalid(path, value, `must not be greater than ${most}%`)
}

/** Whether it stands for no pods, whatever the total. */
export function isZero(value: number | string | undefined): boolean {
  return value === 0 || (typeof value === 'string' && /^0+%$/.test(value))
}
