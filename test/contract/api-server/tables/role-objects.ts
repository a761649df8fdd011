import { of } from './objects.ts'

/** Roles and bindings that the cases send. */
export const RBAC = '/apis/rbac.authorization.k8s.io/v1'
export const ROLES = `${RBAC}/namespaces/$(ns)/roles`
export const BINDINGS = `${RBAC}/namespaces/$(ns)/rolebindings`
export const CLUSTER_ROLES = `${RBAC}/clusterroles`
export const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`
const GROUP = 'rbac.authorization.k8s.io'

type Fields = Readonly<Record<string, unknown>>

export const role = (name: string, rules: unknown, fields: Fields = {}) =>
  of(`${GROUP}/v1`, 'Role', name, { rules, ...fields })
export const clusterRole = (name: string, rules: unknown, fields: Fields = {}, metadata: Fields = {}) =>
  of(`${GROUP}/v1`, 'ClusterRole', name, { rules, ...fields }, metadata)

export const toRole = (name: string) => ({ apiGroup: GROUP, kind: 'Role', name })
export const toClusterRole = (name: string) => ({ apiGroup: GROUP, kind: 'ClusterRole', name })
export const user = (name: string) => ({ apiGroup: GROUP, kind: 'User', name })
export const group = (name: string) => ({ apiGroup: GROUP, kind: 'Group', name })
export const account = (name: string, namespace?: string) => ({
  kind: 'ServiceAccount',
  name,
  ...(namespace !== undefined && { namespace }),
})

export const binding = (name: string, roleRef: unknown, ...subjects: readonly unknown[]) =>
  of(`${GROUP}/v1`, 'RoleBinding', name, { roleRef, subjects })
export const clusterBinding = (name: string, roleRef: unknown, ...subjects: readonly unknown[]) =>
  of(`${GROUP}/v1`, 'ClusterRoleBinding', name, { roleRef, subjects })

export const as = (name: string) => ({ headers: { 'impersonate-user': name } })

const REVIEWS = '/apis/authorization.k8s.io/v1'
export const ACCESS_REVIEWS = `${REVIEWS}/subjectaccessreviews`
export const OWN_ACCESS_REVIEWS = `${REVIEWS}/selfsubjectaccessreviews`
export const RULES_REVIEWS = `${REVIEWS}/selfsubjectrulesreviews`
export const LOCAL_REVIEWS = `${REVIEWS}/namespaces/$(ns)/localsubjectaccessreviews`
export const review = (kind: string, spec: Fields) => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec })
