import type {
  Affinity,
  LabelSelector,
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { dnsLabel, qualifiedName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { validateFieldRequirement, validateLabelSelector, validateNodeRequirement } from './validate-selectors.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Where the pod wants to be, or not to be. */
export function validateAffinity(affinity: Affinity, path: FieldPath, problems: ProblemList): void {
  if (affinity.nodeAffinity) validateNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity'), problems)
  for (const name of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = affinity[name]
    if (terms !== undefined) validatePodAffinity(terms, path.child(name), problems)
  }
}

function validateNodeAffinity(affinity: NodeAffinity, path: FieldPath, problems: ProblemList): void {
  const required = affinity[REQUIRED]
  if (required) {
    const at = path.child(REQUIRED).child('nodeSelectorTerms')
    if (required.nodeSelectorTerms.length === 0) problems.required(at, 'without a term no node fits')
    for (const [index, term] of required.nodeSelectorTerms.entries())
      validateNodeTerm(term, true, at.index(index), problems)
  }
  for (const [index, { weight, preference }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(index)
    problems.inRange(at.child('weight'), weight, 1, 100)
    validateNodeTerm(preference, false, at.child('preference'), problems)
  }
}

function validateNodeTerm(term: NodeSelectorTerm, mustBeLabel: boolean, path: FieldPath, problems: ProblemList): void {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    validateNodeRequirement(requirement, mustBeLabel, path.child('matchExpressions').index(index), problems)
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries()) {
    validateFieldRequirement(requirement, path.child('matchFields').index(index), problems)
  }
}

function validatePodAffinity(affinity: PodAffinity, path: FieldPath, problems: ProblemList): void {
  for (const [index, term] of (affinity[REQUIRED] ?? []).entries()) {
    validatePodTerm(term, path.child(REQUIRED).index(index), problems)
  }
  for (const [index, { weight, podAffinityTerm }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(index)
    problems.inRange(at.child('weight'), weight, 1, 100)
    validatePodTerm(podAffinityTerm, at.child('podAffinityTerm'), problems)
  }
}

function validatePodTerm(term: PodAffinityTerm, path: FieldPath, problems: ProblemList): void {
  validateLabelSelector(term.labelSelector, path.child('labelSelector'), problems)
  validateLabelSelector(term.namespaceSelector, path.child('namespaceSelector'), problems)
  for (const [index, name] of (term.namespaces ?? []).entries()) {
    problems.matches(path.child('namespaces').index(index), name, dnsLabel)
  }
  problems.name(path.child('topologyKey'), term.topologyKey, qualifiedName)
  for (const name of ['matchLabelKeys', 'mismatchLabelKeys'] as const) {
    validateLabelKeys(term[name] ?? [], term.labelSelector, path.child(name), problems)
  }
  for (const [index, key] of (term.matchLabelKeys ?? []).entries()) {
    if (term.mismatchLabelKeys?.includes(key) !== true) continue
    problems.invalid(path.child('matchLabelKeys').index(index), key, 'is in mismatchLabelKeys too')
  }
}

/** Label keys that extend a selector, which must be there. */
export function validateLabelKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  path: FieldPath,
  problems: ProblemList,
): void {
  if (keys.length > 0 && selector === undefined) {
    problems.forbidden(path, 'needs a labelSelector to extend')
  }
  for (const [index, key] of keys.entries()) problems.matches(path.index(index), key, qualifiedName)
}
