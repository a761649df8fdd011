import { sameValue } from '../../base/document/same-value.ts'
import type { ClusterRole, ClusterRoleBinding } from '../../model/generated/api-groups.ts'
import { findResource } from '../kinds/all-resources.ts'
import type { ChangeSet } from '../lifecycle/change-set.ts'
import { storeKeyOf } from '../lifecycle/change-set.ts'
import { createObject } from '../lifecycle/create-object.ts'
import { updateObject } from '../lifecycle/update-object.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import { AUTOUPDATE, defaultClusterRoleBindings, defaultClusterRoles } from './default-roles.ts'
import { findMissingRights } from './find-missing-rights.ts'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP } from './roles.ts'

/** Makes the default roles and bindings; those that are there get what they lack and keep what they have more, unless they are to stay as they are. */
export function ensureDefaultRoles(changes: ChangeSet): void {
  for (const role of defaultClusterRoles) {
    const present = changes.objects.get({ resource: CLUSTER_ROLES, namespace: '', name: role.metadata.name ?? '' })
    write(changes, 'clusterroles', present, present === undefined ? role : computeRole(present, role))
  }
  for (const binding of defaultClusterRoleBindings) {
    const { name = '' } = binding.metadata
    const present = changes.objects.get({ resource: CLUSTER_ROLE_BINDINGS, namespace: '', name })
    write(changes, 'clusterrolebindings', present, present === undefined ? binding : computeBinding(present, binding))
  }
}

function write(changes: ChangeSet, plural: string, present: ApiObject | undefined, wanted: ApiObject): void {
  const resource = findResource(RBAC_GROUP, 'v1', plural)
  if (resource === undefined || present?.metadata.annotations?.[AUTOUPDATE] === 'false') return
  if (present === undefined) createObject(changes, resource, wanted)
  else updateObject(changes, resource, { key: storeKeyOf(resource, present), change: () => wanted })
}

/** A role that is there, with the rules and selectors that the default has besides. */
export function computeRole(present: ObjectOf<ClusterRole>, wanted: ObjectOf<ClusterRole>): ObjectOf<ClusterRole> {
  const { rules = [], aggregationRule } = present
  const selectors = aggregationRule?.clusterRoleSelectors ?? []
  const absent = (wanted.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (each) => !selectors.some((other) => sameValue(other, each)),
  )
  return {
    ...present,
    metadata: withMarks(present, wanted),
    ...(absent.length > 0 && { aggregationRule: { clusterRoleSelectors: [...selectors, ...absent] } }),
    rules: [...rules, ...findMissingRights(rules, wanted.rules ?? [])],
  }
}

/** A binding that is there, with the subjects that the default has besides; one to another role was made by a user. */
export function computeBinding(
  present: ObjectOf<ClusterRoleBinding>,
  wanted: ObjectOf<ClusterRoleBinding>,
): ObjectOf<ClusterRoleBinding> {
  if (!sameValue(present.roleRef, wanted.roleRef)) return present
  const { subjects = [] } = present
  const absent = (wanted.subjects ?? []).filter((each) => !subjects.some((other) => sameValue(other, each)))
  return { ...present, metadata: withMarks(present, wanted), subjects: [...subjects, ...absent] }
}

function withMarks(present: ApiObject, wanted: ApiObject): ApiObject['metadata'] {
  return {
    ...present.metadata,
    labels: { ...present.metadata.labels, ...wanted.metadata.labels },
    annotations: { ...wanted.metadata.annotations, ...present.metadata.annotations },
  }
}
