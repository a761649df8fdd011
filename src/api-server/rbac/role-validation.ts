import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from '../../model/generated/api-groups.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { NameRule, Violation } from '../../model/schema/validation/problem-list.ts'
import { validateLabelSelector } from '../../model/schema/validation/validate-selectors.ts'
import type { ResourceRules } from '../kinds/resource.ts'
import type { ObjectOf } from '../store/api-object.ts'
import { RBAC_GROUP } from './roles.ts'

const pathSegment: NameRule = (value) =>
  /[/%]/.test(value) || value === '.' || value === '..' ? 'must fit into a path' : undefined

/** A list of rules that is not sent is an empty one. */
export const roleRules: ResourceRules<ObjectOf<Role>> = {
  fillDefaults: (role) => ({ ...role, rules: role.rules ?? [] }),
  validate: ({ rules }) => validateRules(rules ?? [], true),
}

export const clusterRoleRules: ResourceRules<ObjectOf<ClusterRole>> = {
  fillDefaults: (role) => ({ ...role, rules: role.rules ?? [] }),
  validate: ({ rules, aggregationRule }) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child('aggregationRule').child('clusterRoleSelectors')
    const { clusterRoleSelectors = [] } = aggregationRule ?? {}
    if (aggregationRule !== undefined && clusterRoleSelectors.length === 0) {
      problems.required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')
    }
    for (const [index, selector] of clusterRoleSelectors.entries()) {
      validateLabelSelector(selector, path.index(index), problems)
    }
    return [...validateRules(rules ?? [], false), ...problems.violations]
  },
}

export const roleBindingRules: ResourceRules<ObjectOf<RoleBinding>> = {
  fillDefaults: fillBinding,
  validate: (binding) => validateBinding(binding, ['Role', 'ClusterRole']),
  validateUpdate: validateRoleRef,
}

export const clusterRoleBindingRules: ResourceRules<ObjectOf<ClusterRoleBinding>> = {
  fillDefaults: fillBinding,
  validate: (binding) => validateBinding(binding, ['ClusterRole']),
  validateUpdate: validateRoleRef,
}

type Binding = ObjectOf<RoleBinding> | ObjectOf<ClusterRoleBinding>

function fillBinding<T extends Binding>(binding: T): T {
  const { roleRef, subjects } = binding
  return {
    ...binding,
    roleRef: { ...roleRef, apiGroup: roleRef.apiGroup || RBAC_GROUP },
    ...(subjects && { subjects: subjects.map(fillSubject) }),
  }
}

function fillSubject(subject: Subject): Subject {
  if (subject.apiGroup || !['User', 'Group'].includes(subject.kind)) return subject
  return { ...subject, apiGroup: RBAC_GROUP }
}

function validateRules(rules: readonly PolicyRule[], isNamespaced: boolean): readonly Violation[] {
  const problems = new ProblemList()
  for (const [index, rule] of rules.entries()) {
    validateRule(rule, isNamespaced, FieldPath.root.child('rules').index(index), problems)
  }
  return problems.violations
}

function validateRule(rule: PolicyRule, isNamespaced: boolean, path: FieldPath, problems: ProblemList): void {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  if (verbs.length === 0) problems.required(path.child('verbs'), 'verbs must contain at least one value')
  if (nonResourceURLs.length > 0) {
    const urls = path.child('nonResourceURLs')
    if (isNamespaced) problems.invalid(urls, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs')
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      problems.invalid(urls, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs')
    }
    return
  }
  if (apiGroups.length === 0) {
    problems.required(path.child('apiGroups'), 'resource rules must supply at least one api group')
  }
  if (resources.length === 0) {
    problems.required(path.child('resources'), 'resource rules must supply at least one resource')
  }
}

function validateBinding({ roleRef, subjects = [] }: Binding, kinds: readonly string[]): readonly Violation[] {
  const problems = new ProblemList()
  const path = FieldPath.root.child('roleRef')
  if (roleRef.apiGroup !== RBAC_GROUP) problems.unsupported(path.child('apiGroup'), roleRef.apiGroup, [RBAC_GROUP])
  if (!kinds.includes(roleRef.kind)) problems.unsupported(path.child('kind'), roleRef.kind, kinds)
  problems.name(path.child('name'), roleRef.name, pathSegment)
  const isNamespaced = kinds.includes('Role')
  for (const [index, subject] of subjects.entries()) {
    validateSubject(subject, isNamespaced, FieldPath.root.child('subjects').index(index), problems)
  }
  return problems.violations
}

const SUBJECTS = ['ServiceAccount', 'User', 'Group']

function validateSubject(subject: Subject, isNamespaced: boolean, path: FieldPath, problems: ProblemList): void {
  const { kind, name, apiGroup = '', namespace } = subject
  if (!name) problems.required(path.child('name'))
  if (!SUBJECTS.includes(kind)) return problems.unsupported(path.child('kind'), kind, SUBJECTS)
  const group = kind === 'ServiceAccount' ? '' : RBAC_GROUP
  if (apiGroup !== group) problems.unsupported(path.child('apiGroup'), apiGroup, [group])
  if (kind !== 'ServiceAccount') return
  if (name) problems.matches(path.child('name'), name, dnsSubdomain)
  if (!isNamespaced && !namespace) problems.required(path.child('namespace'))
}

function validateRoleRef({ roleRef }: Binding, before: Binding): readonly Violation[] {
  const problems = new ProblemList()
  if (!sameValue(roleRef, before.roleRef)) {
    problems.invalid(FieldPath.root.child('roleRef'), roleRef, 'cannot change roleRef')
  }
  return problems.violations
}
