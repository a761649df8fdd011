import type { PodSpec, Toleration, TopologySpreadConstraint } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { dnsSubdomain, labelValue, qualifiedName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { validateAffinity, validateLabelKeys } from './validate-affinity.ts'
import { validateLabels } from './validate-metadata.ts'
import { validateLabelSelector } from './validate-selectors.ts'

/** What a scheduler, and the node's own admission, read of a pod. */
export function validateScheduling(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  validateLabels(spec.nodeSelector ?? {}, path.child('nodeSelector'), problems)
  if (spec.affinity) validateAffinity(spec.affinity, path.child('affinity'), problems)
  for (const [index, toleration] of (spec.tolerations ?? []).entries()) {
    validateToleration(toleration, path.child('tolerations').index(index), problems)
  }
  validateSpread(spec.topologySpreadConstraints ?? [], path.child('topologySpreadConstraints'), problems)
  for (const [index, gate] of (spec.readinessGates ?? []).entries()) {
    problems.matches(
      path.child('readinessGates').index(index).child('conditionType'),
      gate.conditionType,
      qualifiedName,
    )
  }
  validateSchedulingGates(spec, path, problems)
  if (spec.preemptionPolicy !== undefined) {
    problems.oneOf(path.child('preemptionPolicy'), spec.preemptionPolicy, ['Never', 'PreemptLowerPriority'])
  }
  for (const name of ['priorityClassName', 'nodeName', 'serviceAccountName'] as const) {
    if (spec[name]) problems.matches(path.child(name), spec[name], dnsSubdomain)
  }
  if (spec.schedulingGroup) {
    problems.name(path.child('schedulingGroup').child('podGroupName'), spec.schedulingGroup.podGroupName, dnsSubdomain)
  }
}

function validateSchedulingGates(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  const gates = spec.schedulingGates ?? []
  const seen = new Set<string>()
  for (const [index, { name }] of gates.entries()) {
    const at = path.child('schedulingGates').index(index)
    problems.matches(at, name, qualifiedName)
    if (seen.has(name)) problems.duplicate(at, name)
    seen.add(name)
  }
  if (gates.length > 0 && spec.nodeName) {
    problems.forbidden(path.child('nodeName'), 'not before all schedulingGates are gone')
  }
}

function validateToleration(toleration: Toleration, path: FieldPath, problems: ProblemList): void {
  const { key, operator = '', value = '', effect } = toleration
  if (key) problems.matches(path.child('key'), key, qualifiedName)
  else if (operator !== 'Exists')
    problems.invalid(path.child('operator'), operator, 'must be Exists where no key is given')
  if (operator === 'Exists') {
    if (value) problems.invalid(path.child('value'), value, 'has no meaning with operator Exists')
  } else if (operator === '' || operator === 'Equal') problems.matches(path.child('value'), value, labelValue)
  else problems.unsupported(path.child('operator'), operator, ['Equal', 'Exists'])
  if (effect) problems.oneOf(path.child('effect'), effect, ['NoExecute', 'NoSchedule', 'PreferNoSchedule'])
  if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
    problems.invalid(path.child('effect'), effect ?? '', 'must be NoExecute where tolerationSeconds is given')
  }
}

function validateSpread(
  constraints: readonly TopologySpreadConstraint[],
  path: FieldPath,
  problems: ProblemList,
): void {
  const seen = new Set<string>()
  for (const [index, constraint] of constraints.entries()) {
    const at = path.index(index)
    const pair = `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`
    if (seen.has(pair)) problems.duplicate(at, pair)
    seen.add(pair)
    if (constraint.maxSkew <= 0) problems.invalid(at.child('maxSkew'), constraint.maxSkew, 'must be at least 1')
    if (!constraint.topologyKey) problems.required(at.child('topologyKey'), 'which label of the nodes to spread over')
    problems.oneOf(at.child('whenUnsatisfiable'), constraint.whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'])
    validateMinDomains(constraint, at.child('minDomains'), problems)
    for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      if (constraint[name] !== undefined) problems.oneOf(at.child(name), constraint[name], ['Honor', 'Ignore'])
    }
    validateLabelKeys(constraint.matchLabelKeys ?? [], constraint.labelSelector, at.child('matchLabelKeys'), problems)
    validateLabelSelector(constraint.labelSelector, at.child('labelSelector'), problems)
  }
}

function validateMinDomains(constraint: TopologySpreadConstraint, path: FieldPath, problems: ProblemList): void {
  const { minDomains } = constraint
  if (minDomains === undefined) return
  if (minDomains <= 0) problems.invalid(path, minDomains, 'must be at least 1')
  if (constraint.whenUnsatisfiable !== 'DoNotSchedule') {
    problems.invalid(path, minDomains, 'can only be used if whenUnsatisfiable is DoNotSchedule')
  }
}
