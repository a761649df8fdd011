import type { RequestUser } from '../kinds/resource.ts'

/** Groups and users that mean something to the API. */
export const ADMIN_GROUP = 'system:masters'
/** May read everything but secrets. */
export const READER_GROUP = 'deckhand:readers'
export const NODE_GROUP = 'system:nodes'
export const NODE_PREFIX = 'system:node:'
export const BOOTSTRAP_GROUP = 'system:bootstrappers'
export const BOOTSTRAP_PREFIX = 'system:bootstrap:'
export const AUTHENTICATED_GROUP = 'system:authenticated'
const SERVICE_ACCOUNT_GROUP = 'system:serviceaccounts'
export const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'

/** A client without credentials, or without good ones. */
export const ANONYMOUS_USER: RequestUser = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** The name of the node that a user is; undefined for all who are not nodes. */
export function nodeNameOf({ name, groups }: RequestUser): string | undefined {
  if (!groups.includes(NODE_GROUP) || !name.startsWith(NODE_PREFIX)) return undefined
  return name.slice(NODE_PREFIX.length) || undefined
}

/** A user whose credentials were good, with the group that all such users have. */
export function authenticated(user: RequestUser): RequestUser {
  return { ...user, groups: [...new Set([...user.groups, AUTHENTICATED_GROUP])] }
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return [SERVICE_ACCOUNT_GROUP, `${SERVICE_ACCOUNT_GROUP}:${namespace}`]
}
