import { ApiError } from '../api-error.ts'
import { authorize } from '../auth/authorize.ts'
import { forbiddenError } from '../auth/forbidden-error.ts'
import { impersonate } from '../auth/impersonate.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { toAttributes } from '../auth/request-attributes.ts'
import type { RequestAttributes } from '../auth/request-attributes.ts'
import { ANONYMOUS_USER } from '../auth/user-names.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { Roles } from '../rbac/roles.ts'
import type { ApiRequest } from '../rest/api-request.ts'
import { parseRequestInfo } from '../rest/request-info.ts'
import type { RequestInfo } from '../rest/request-info.ts'

/** What rights depend on. */
export interface AccessDeps {
  readonly objects: ObjectReader
  readonly roles: Roles
}

/** The user that a request counts as, and what it is about. Throws an ApiError for an unknown user, or one that may not do it. */
export function authorizeRequest(
  { objects, roles }: AccessDeps,
  request: Pick<ApiRequest, 'method' | 'target' | 'headers' | 'user'>,
): { readonly user: RequestUser; readonly info: RequestInfo } {
  if (request.user === ANONYMOUS_USER) throw unauthorized()
  const demand = (attributes: RequestAttributes): void => {
    const decision = authorize(attributes, objects, roles)
    if (!decision.allowed) throw forbiddenError(attributes, decision.reason)
  }
  const other = impersonate(request.user, request.headers)
  for (const attributes of other?.needed ?? []) demand(attributes)
  const user = other?.user ?? request.user
  const info = parseRequestInfo(request.method, request.target)
  demand(toAttributes(user, info))
  return { user, info }
}

function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
}
