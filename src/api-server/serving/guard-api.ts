import type { Clock } from '../../base/async/clock.ts'
import { ApiError } from '../api-error.ts'
import { issueToken } from '../auth/issue-token.ts'
import type { TokenSigner } from '../auth/json-web-token.ts'
import { TOKEN_REQUEST } from '../kinds/rules/passed-subresources.ts'
import { jsonResponse } from '../rest/api-request.ts'
import type { ApiRequest, ApiResponse } from '../rest/api-request.ts'
import type { Api } from '../rest/create-api.ts'
import { decodeBody, readDocument } from '../rest/decode-body.ts'
import type { RequestInfo } from '../rest/request-info.ts'
import { authorizeRequest } from './authorize-request.ts'
import type { AccessDeps } from './authorize-request.ts'

export interface GuardDeps extends AccessDeps {
  readonly api: Api
  readonly signer: TokenSigner
  readonly clock: Clock
  readonly newUid: () => string
}

/** The API for users: unknown ones, and those that may not do what they ask for, get no further. Watches end when `stop` aborts. */
export function guardApi(deps: GuardDeps, stop: AbortSignal): Api {
  return {
    async handle(request, signal) {
      try {
        const { user, info } = authorizeRequest(deps, request)
        const asked = { ...request, user }
        if (asksForToken(info)) return await answerToken(deps, asked, info)
        return await handleUntil(deps.api, asked, [signal, stop])
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return jsonResponse(error.status.code, error.status)
      }
    },
  }
}

/** The answer of the API, whose stream ends with either signal. Nothing is left at them once it is over. */
async function handleUntil(
  api: Api,
  request: ApiRequest,
  [gone, stop]: readonly [AbortSignal, AbortSignal],
): Promise<ApiResponse> {
  const ending = new AbortController()
  const signals = [gone, stop]
  const release = () => signals.forEach((signal) => signal.removeEventListener('abort', end))
  const end = () => {
    release()
    ending.abort(new Error('The reader has left, or the server ends'))
  }
  for (const signal of signals) signal.addEventListener('abort', end)
  if (signals.some(({ aborted }) => aborted)) end()
  const answer = await api.handle(request, ending.signal)
  if (typeof answer.body !== 'string') return { ...answer, body: releasing(answer.body, release) }
  release()
  return answer
}

async function* releasing<T>(body: AsyncIterable<T>, release: () => void): AsyncGenerator<T> {
  try {
    yield* body
  } finally {
    release()
  }
}

/** Tokens of service accounts are made from knowledge of users alone. */
function asksForToken({ isResource, verb, group, version, resource, subresource }: RequestInfo): boolean {
  const isAccount = isResource && group === '' && version === 'v1' && resource === 'serviceaccounts'
  return isAccount && verb === 'create' && subresource === 'token'
}

async function answerToken(
  deps: GuardDeps,
  request: ApiRequest,
  { namespace, name }: RequestInfo,
): Promise<ApiResponse> {
  const { object } = decodeBody(await readDocument(request, TOKEN_REQUEST), TOKEN_REQUEST)
  const { signer, objects, newUid } = deps
  const { spec = {} } = object
  const answer = issueToken(
    { signer, objects, newUid, now: deps.clock.now() },
    { user: request.user, namespace, name, spec },
  )
  return jsonResponse(201, { ...object, metadata: { name, namespace }, ...answer })
}
