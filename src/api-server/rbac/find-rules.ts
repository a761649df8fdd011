import type { PolicyRule, RoleRef, Subject } from '../../model/generated/api-groups.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../auth/user-names.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { RBAC_GROUP } from './roles.ts'
import type { Roles } from './roles.ts'

/** The rules that a binding gives to a user, or the role that is missing. */
export interface BoundRules {
  /** As in: RoleBinding "read/default" of Role "reader" to User "jane". */
  readonly source: string
  readonly rules: readonly PolicyRule[]
  readonly missing?: MissingRole
}

interface MissingRole {
  /** The plural. */
  readonly resource: string
  readonly name: string
}

/** What a role that is not there is called. */
export function missingText({ resource, name }: MissingRole): string {
  return `${resource.slice(0, -1)}.${RBAC_GROUP} "${name}" not found`
}

/** What bindings give to a user: those of the cluster, then those of a namespace. */
export function* findRules(roles: Roles, user: RequestUser, namespace: string): Generator<BoundRules> {
  for (const { metadata, roleRef, subjects = [] } of roles.clusterRoleBindings()) {
    const subject = subjects.find((each) => isSubject(each, user, ''))
    if (subject === undefined) continue
    const source = `ClusterRoleBinding "${metadata.name}" of ${roleText(roleRef)} to ${subjectText(subject, '')}`
    yield { source, ...rulesOf(roles, roleRef, '') }
  }
  if (namespace === '') return
  for (const { metadata, roleRef, subjects = [] } of roles.roleBindings(namespace)) {
    const subject = subjects.find((each) => isSubject(each, user, namespace))
    if (subject === undefined) continue
    const source = `RoleBinding "${metadata.name}/${namespace}" of ${roleText(roleRef)} to ${subjectText(subject, namespace)}`
    yield { source, ...rulesOf(roles, roleRef, namespace) }
  }
}

/** The rules of the role that a binding in a namespace, or in none, refers to. */
export function rulesOf(
  roles: Roles,
  { kind, name }: RoleRef,
  namespace: string,
): { readonly rules: readonly PolicyRule[]; readonly missing?: MissingRole } {
  const role = kind === 'Role' ? roles.role(namespace, name) : roles.clusterRole(name)
  if (role !== undefined) return { rules: role.rules ?? [] }
  return { rules: [], missing: { resource: kind === 'Role' ? 'roles' : 'clusterroles', name } }
}

function isSubject(subject: Subject, { name, groups }: RequestUser, bindingNamespace: string): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === name
    case 'Group':
      return groups.includes(subject.name)
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace
      return namespace !== '' && name === `${SERVICE_ACCOUNT_PREFIX}${namespace}:${subject.name}`
    }
    default:
      return false
  }
}

function roleText({ kind, name }: RoleRef): string {
  return `${kind} "${name}"`
}

function subjectText({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount' ? `${kind} "${name}/${namespace || bindingNamespace}"` : `${kind} "${name}"`
}
