import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../model/generated/api-groups.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import type { ApiStore } from '../store/api-store.ts'
import type { ObjectOf } from '../store/api-object.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'
export const ROLES = 'roles.rbac.authorization.k8s.io'
export const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io'
export const ROLE_BINDINGS = 'rolebindings.rbac.authorization.k8s.io'
export const CLUSTER_ROLE_BINDINGS = 'clusterrolebindings.rbac.authorization.k8s.io'

/** Roles and who has them. */
export interface Roles {
  clusterRoleBindings(): readonly ObjectOf<ClusterRoleBinding>[]
  roleBindings(namespace: string): readonly ObjectOf<RoleBinding>[]
  clusterRole(name: string): ObjectOf<ClusterRole> | undefined
  role(namespace: string, name: string): ObjectOf<Role> | undefined
}

/** Roles as objects say. */
export function readRoles(objects: ObjectReader): Roles {
  return {
    clusterRoleBindings: () => objects.list(CLUSTER_ROLE_BINDINGS),
    roleBindings: (namespace) => objects.list(ROLE_BINDINGS, namespace),
    clusterRole: (name) => objects.get({ resource: CLUSTER_ROLES, namespace: '', name }),
    role: (namespace, name) => objects.get({ resource: ROLES, namespace, name }),
  }
}

/**
 * The roles of a store, kept from one request to the next and read again after a change. Only for what asks between two transactions:
 * inside of one it would keep what may yet be undone.
 */
export function keepRoles(store: Pick<ApiStore, 'onChange'>, objects: ObjectReader): Roles {
  const source = readRoles(objects)
  const kept = new Map<string, unknown>()
  for (const resource of [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS]) {
    store.onChange(resource, () => kept.clear())
  }
  const once = <T>(key: string, read: () => T): T => {
    if (!kept.has(key)) kept.set(key, read())
    return kept.get(key) as T
  }
  return {
    clusterRoleBindings: () => once('clusterRoleBindings', () => source.clusterRoleBindings()),
    roleBindings: (namespace) => once(`bindings of ${namespace}`, () => source.roleBindings(namespace)),
    clusterRole: (name) => once(`clusterRole ${name}`, () => source.clusterRole(name)),
    role: (namespace, name) => once(`role ${namespace}/${name}`, () => source.role(namespace, name)),
  }
}
