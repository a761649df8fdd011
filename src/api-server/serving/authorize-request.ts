import { ApiError } from '../api-error.ts'
import { authorize } from '../auth/authorize.ts'
import { impersonate } from '../auth/impersonate.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { toAttributes } from '../auth/request-attributes.ts'
import type { RequestAttributes } from '../auth/request-attributes.ts'
import { ANONYMOUS_USER } from '../auth/user-names.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { ApiRequest } from '../rest/api-request.ts'
import { parseRequestInfo } from '../rest/request-info.ts'
import type { RequestInfo } from '../rest/request-info.ts'

/** The user that a request counts as, and what it is about. Throws an ApiError for an unknown user, or one that may not do it. */
export function authorizeRequest(
  objects: ObjectReader,
  request: Pick<ApiRequest, 'method' | 'target' | 'headers' | 'user'>,
): { readonly user: RequestUser; readonly info: RequestInfo } {
  if (request.user === ANONYMOUS_USER) throw unauthorized()
  const user = impersonate(request.user, request.headers)
  const info = parseRequestInfo(request.method, request.target)
  const attributes = toAttributes(user, info)
  const decision = authorize(attributes, objects)
  if (!decision.allowed) throw forbiddenError(attributes, decision.reason)
  return { user, info }
}

function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
}

function forbiddenError(attributes: RequestAttributes, reason: string): ApiError {
  const { group, resource, name } = attributes
  const message = `${sentence(attributes)}: ${reason}`
  if (!attributes.isResource) return new ApiError({ code: 403, reason: 'Forbidden', message, details: {} })
  const qualified = group === '' ? resource : `${resource}.${group}`
  const subject = name === '' ? qualified : `${qualified} "${name}"`
  const details = { ...(name !== '' && { name }), ...(group !== '' && { group }), kind: resource }
  return new ApiError({ code: 403, reason: 'Forbidden', message: `${subject} is forbidden: ${message}`, details })
}

function sentence({
  user,
  isResource,
  verb,
  path,
  group,
  resource,
  subresource,
  namespace,
}: RequestAttributes): string {
  const who = userText(user)
  if (!isResource) return `forbidden: ${who} cannot ${verb} path "${path.slice(0, 200)}"`
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  return `${who} cannot ${verb} resource "${what}" in API group "${group}" ${where}`
}

function userText({ name }: RequestUser): string {
  return `User "${name}"`
}
