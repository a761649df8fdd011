import { ApiError, badRequest } from '../api-error.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { ADMIN_GROUP, authenticated, SERVICE_ACCOUNT_PREFIX, serviceAccountGroups } from './user-names.ts'

type Headers = Readonly<Record<string, string | undefined>>

const EXTRA = 'impersonate-extra-'

/** The user that a request counts as: the sender, or the one that an administrator names. Throws an ApiError for other impersonators. */
export function impersonate(user: RequestUser, headers: Headers): RequestUser {
  const names = Object.keys(headers).filter((name) => name.startsWith('impersonate-'))
  if (names.length === 0) return user
  if (!user.groups.includes(ADMIN_GROUP)) {
    const message = `users "${headers['impersonate-user'] ?? ''}" is forbidden: User "${user.name}" cannot impersonate others: only administrators may`
    throw new ApiError({ code: 403, reason: 'Forbidden', message, details: { kind: 'users' } })
  }
  const name = headers['impersonate-user']
  if (!name) throw badRequest('a request that names groups, a UID or extra fields to impersonate must name a user too')
  const uid = headers['impersonate-uid']
  const groups = splitList(headers['impersonate-group'])
  const extra = Object.fromEntries(
    names
      .filter((header) => header.startsWith(EXTRA))
      .map((header) => [decodeKey(header.slice(EXTRA.length)), splitList(headers[header])]),
  )
  return authenticated({
    name,
    groups: groups.length > 0 ? groups : groupsOf(name),
    ...(uid && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  })
}

/** A service account is always in its groups. */
function groupsOf(name: string): readonly string[] {
  const [namespace, account] = name.startsWith(SERVICE_ACCOUNT_PREFIX)
    ? name.slice(SERVICE_ACCOUNT_PREFIX.length).split(':')
    : []
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
