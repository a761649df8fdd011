import { ApiError, badRequest, internalError, methodNotAllowed } from '../../api-error.ts'
import type { Backends } from '../../backends/create-backends.ts'
import { passRequest } from '../../backends/pass-request.ts'
import type { ApiResponse } from '../api-request.ts'
import type { ResourceRequest } from '../resource-request.ts'

const UPGRADED = ['attach', 'exec', 'portforward']
// Enough of an error's text to understand it.
const MAX_ERROR_CHARACTERS = 50_000

/** Passes a request on to the kubelet or pod that answers it. */
export async function passVerb(backends: Backends, asked: ResourceRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { request, info } = asked
  if (!['nodes', 'pods'].includes(info.resource)) throw methodNotAllowed()
  if (UPGRADED.includes(info.subresource)) throw badRequest('Upgrade request required')
  if (info.subresource === 'log') return await passLog(backends, asked, signal)
  if (info.rest === '' && request.method === 'GET') return redirectInto(info.path, info.rawQuery)
  const backend = backends.find(info, request.headers)
  return backend === undefined ? nothing() : await passRequest(backend, request, signal)
}

async function passLog(backends: Backends, { request, info }: ResourceRequest, signal: AbortSignal) {
  const backend = backends.find(info, request.headers)
  if (backend === undefined) return nothing()
  // The kubelet answers in plain text whatever is asked for.
  const answer = await passRequest(backend, { method: 'GET', headers: {} }, signal)
  if (answer.status < 200 || answer.status > 206) throw toApiError(answer.status, await readText(answer), info.name)
  return { ...answer, headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' } }
}

function nothing(): ApiResponse {
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: '' }
}

/** Relative links of what is behind the proxy only work below its path. */
function redirectInto(path: string, query: string): ApiResponse {
  return { status: 301, headers: { location: `${path}/${query === '' ? '' : `?${query}`}` }, body: '' }
}

async function readText({ body }: ApiResponse): Promise<string> {
  if (typeof body === 'string') return body
  let text = ''
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.length > MAX_ERROR_CHARACTERS) break
  }
  return text.slice(0, MAX_ERROR_CHARACTERS).trim()
}

/** What a kubelet said against a request, in the words of the API. */
function toApiError(code: number, text: string, name: string): ApiError {
  const details = { name, kind: 'pods' }
  switch (code) {
    case 400:
      return badRequest(text)
    case 404:
      return new ApiError({ code, reason: 'NotFound', message: text || `pods "${name}" not found`, details })
    case 401:
    case 403: {
      // The kubelet rejects the API server, not the client, so the client cannot fix it.
      const message = `the kubelet of the pod does not take the certificate of the API: ${text}`
      return new ApiError({ code: 403, reason: 'Forbidden', message, details })
    }
    case 422:
      return new ApiError({ code, reason: 'Invalid', message: text, details })
    default:
      return internalError(text || `the kubelet answered ${code}`)
  }
}
