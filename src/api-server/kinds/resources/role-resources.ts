import { bindingColumns, nameAndCreated } from '../../rbac/role-columns.ts'
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from '../../rbac/role-validation.ts'
import type { Resource } from '../resource.ts'
import { defineResource, pathSegment } from './define-resource.ts'

/** Who may do what. */
export const roleResources: readonly Resource[] = [
  defineResource('clusterrolebindings.rbac.authorization.k8s.io', {
    kind: 'ClusterRoleBinding',
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: bindingColumns,
    rules: clusterRoleBindingRules,
  }),
  defineResource('clusterroles.rbac.authorization.k8s.io', {
    kind: 'ClusterRole',
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: nameAndCreated,
    rules: clusterRoleRules,
  }),
  defineResource('rolebindings.rbac.authorization.k8s.io', {
    kind: 'RoleBinding',
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: bindingColumns,
    rules: roleBindingRules,
  }),
  defineResource('roles.rbac.authorization.k8s.io', {
    kind: 'Role',
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: nameAndCreated,
    rules: roleRules,
  }),
]
