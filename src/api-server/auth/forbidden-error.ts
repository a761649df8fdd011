import { ApiError } from '../api-error.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { RequestAttributes } from './request-attributes.ts'

/** The answer to a request that nothing allows. */
export function forbiddenError(attributes: RequestAttributes, reason: string): ApiError {
  const { group, resource, name } = attributes
  const message = reason === '' ? sentence(attributes) : `${sentence(attributes)}: ${reason}`
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
