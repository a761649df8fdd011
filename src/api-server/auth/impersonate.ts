import { badRequest } from '../api-error.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { RequestAttributes } from './request-attributes.ts'
import { authenticated, SERVICE_ACCOUNT_PREFIX, serviceAccountGroups } from './user-names.ts'

type Headers = Readonly<Record<string, string | undefined>>
type Right = Pick<RequestAttributes, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>

const EXTRA = 'impersonate-extra-'
const AUTHENTICATION_GROUP = 'authentication.k8s.io'

/** The user that a request is to count as, and what its sender has to be allowed for that. */
export interface Impersonation {
  readonly user: RequestUser
  readonly needed: readonly RequestAttributes[]
}

/** Whom a request is sent as; undefined when it is sent as oneself. Throws an ApiError for headers that name no user. */
export function impersonate(sender: RequestUser, headers: Headers): Impersonation | undefined {
  const names = Object.keys(headers).filter((name) => name.startsWith('impersonate-'))
  if (names.length === 0) return undefined
  const name = headers['impersonate-user']
  if (!name) throw badRequest('a request that names groups, a UID or extra fields to impersonate must name a user too')
  const uid = headers['impersonate-uid']
  const groups = splitList(headers['impersonate-group'])
  const extra = Object.fromEntries(
    names
      .filter((header) => header.startsWith(EXTRA))
      .map((header) => [decodeKey(header.slice(EXTRA.length)), splitList(headers[header])]),
  )
  const user = authenticated({
    name,
    groups: groups.length > 0 ? groups : groupsOf(name),
    ...(uid && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  })
  const rights: readonly Right[] = [
    userRight(name),
    ...groups.map((group) => ({ ...NOTHING, resource: 'groups', name: group })),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => {
        return { ...NOTHING, group: AUTHENTICATION_GROUP, resource: 'userextras', subresource: key, name: value }
      }),
    ),
    ...(uid ? [{ ...NOTHING, group: AUTHENTICATION_GROUP, resource: 'uids', name: uid }] : []),
  ]
  const verb = 'impersonate'
  return {
    user,
    needed: rights.map((right) => ({ user: sender, isResource: true, verb, path: '', fields: {}, ...right })),
  }
}

const NOTHING = { group: '', subresource: '', namespace: '' }

function userRight(name: string): Right {
  const [namespace, account] = accountOf(name)
  if (namespace && account) return { ...NOTHING, resource: 'serviceaccounts', namespace, name: account }
  return { ...NOTHING, resource: 'users', name }
}

function accountOf(name: string): readonly string[] {
  return name.startsWith(SERVICE_ACCOUNT_PREFIX) ? name.slice(SERVICE_ACCOUNT_PREFIX.length).split(':') : []
}

/** A service account is always in its groups. */
function groupsOf(name: string): readonly string[] {
  const [namespace, account] = accountOf(name)
  return namespace && account ? serviceAccountGroups(namespace) : []
}

/** Several headers of a name come as one, with commas between. */
function splitList(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch (error) {
    throw badRequest(`the header "${EXTRA}${key.slice(0, 100)}" is not correctly encoded`, { cause: error })
  }
}
