import { sameValue } from '../../base/document/same-value.ts'
import type { PolicyRule, RoleRef } from '../../model/generated/api-groups.ts'
import { forbidden, notFound } from '../api-error.ts'
import type { ApiError } from '../api-error.ts'
import type { RequestAttributes } from '../auth/request-attributes.ts'
import { ADMIN_GROUP } from '../auth/user-names.ts'
import { asStored } from '../kinds/object-reader.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import type { ApiObject } from '../store/api-object.ts'
import { authorizeByRoles } from './authorize-by-roles.ts'
import { findMissingRights, listText, ruleText } from './find-missing-rights.ts'
import { findRules, rulesOf } from './find-rules.ts'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP, readRoles, ROLE_BINDINGS, ROLES } from './roles.ts'
import type { Roles } from './roles.ts'

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/**
 * No user grants rights that it does not have itself: a role with more than its writer has, or a binding to one, is refused,
 * unless the writer may escalate or bind. Throws an ApiError.
 */
export function admitRole(user: RequestUser, change: Change, objects: ObjectReader): void {
  if (change.after === undefined || user.groups.includes(ADMIN_GROUP)) return
  if (![ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS].includes(change.key.resource)) return
  if (isForCollection(change)) return
  // Its own change must not be what allows it.
  const writer: Writer = { user, roles: readRoles(withoutChange(objects, change)), namespace: change.key.namespace }
  if (isChangeOf(change, ROLES)) admitRules(writer, change, 'roles', change.after?.rules ?? [])
  else if (isChangeOf(change, CLUSTER_ROLES)) admitClusterRole(writer, change)
  else if (isChangeOf(change, ROLE_BINDINGS)) admitBinding(writer, change, 'rolebindings', change.after?.roleRef)
  else if (isChangeOf(change, CLUSTER_ROLE_BINDINGS))
    admitBinding(writer, change, 'clusterrolebindings', change.after?.roleRef)
}

interface Writer {
  readonly user: RequestUser
  readonly roles: Roles
  readonly namespace: string
}

function admitClusterRole(writer: Writer, change: Change<typeof CLUSTER_ROLES>): void {
  const { before, after } = change
  if (mayEscalate(writer, change, 'clusterroles')) return
  admitRules(writer, change, 'clusterroles', after?.rules ?? [])
  const selectors = [before, after].flatMap((role) => role?.aggregationRule?.clusterRoleSelectors ?? [])
  if (selectors.length === 0 || findMissing(writer, EVERYTHING).length === 0) return
  throw refusal(change, 'clusterroles', 'must have cluster-admin privileges to use the aggregationRule')
}

function admitRules(writer: Writer, change: Change, resource: string, rules: readonly PolicyRule[]): void {
  const missing = findMissing(writer, rules)
  if (missing.length === 0 || mayEscalate(writer, change, resource)) return
  throw refusal(change, resource, missingRights(writer, missing))
}

function admitBinding(writer: Writer, change: Change, resource: string, roleRef: RoleRef | undefined): void {
  if (roleRef === undefined || mayBind(writer, roleRef)) return
  const { rules, missing: absent } = rulesOf(writer.roles, roleRef, writer.namespace)
  // Parity: the missing role is reported as if it were a binding.
  if (absent !== undefined) throw notFound({ group: RBAC_GROUP, resource, name: absent.name })
  const missing = findMissing(writer, rules)
  if (missing.length > 0) throw refusal(change, resource, missingRights(writer, missing))
}

function findMissing({ user, roles, namespace }: Writer, wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const owned = [...findRules(roles, user, namespace)].flatMap(({ rules }) => rules)
  return findMissingRights(owned, wanted)
}

function missingRights({ user }: Writer, missing: readonly PolicyRule[]): string {
  const lines = [...new Set(missing.map(ruleText))].toSorted()
  const who = `user ${JSON.stringify(user.name)} (groups=${listText(user.groups)})`
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`
}

function mayEscalate(writer: Writer, { key, before }: Change, resource: string): boolean {
  // A new object has no name in the request.
  return may(writer, 'escalate', { group: RBAC_GROUP, resource, name: before === undefined ? '' : key.name })
}

function mayBind(writer: Writer, { apiGroup, kind, name }: RoleRef): boolean {
  const resource = kind === 'Role' ? 'roles' : 'clusterroles'
  return may(writer, 'bind', { group: apiGroup ?? RBAC_GROUP, resource, name })
}

function may(
  { user, roles, namespace }: Writer,
  verb: string,
  what: Pick<RequestAttributes, 'group' | 'resource' | 'name'>,
): boolean {
  const attributes = { user, isResource: true, verb, path: '', subresource: '', namespace, fields: {}, ...what }
  return authorizeByRoles(attributes, roles).allowed
}

/** Only what concerns its deletion: owners and finalizers. */
function isForCollection({ before, after }: Change): boolean {
  return before !== undefined && after !== undefined && sameValue(withoutOwners(before), withoutOwners(after))
}

function withoutOwners(object: ApiObject): object {
  const { ownerReferences: _, finalizers: _f, managedFields: _m, resourceVersion: _r, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Objects as they were before a change. */
function withoutChange(objects: ObjectReader, { key, before }: Change): ObjectReader {
  const isChanged = ({ metadata }: ApiObject) =>
    metadata.name === key.name && (metadata.namespace ?? '') === key.namespace
  return {
    get: (asked) => {
      const isAsked = asked.resource === key.resource && asked.name === key.name && asked.namespace === key.namespace
      return isAsked ? before && asStored(asked.resource, before) : objects.get(asked)
    },
    list: (resource, namespace) => {
      const all = objects.list(resource, namespace)
      if (resource !== key.resource) return all
      return all.flatMap((each) =>
        isChanged(each) ? (before === undefined ? [] : [asStored(resource, before)]) : [each],
      )
    },
  }
}

function refusal({ key }: Change, resource: string, why: string): ApiError {
  return forbidden({ group: RBAC_GROUP, resource, name: key.name }, why)
}
