import type { Clock } from '../../async/clock.ts'
import { ApiError } from '../api-error.ts'
import { authorize } from '../auth/authorize.ts'
import { computeRulesStatus } from '../auth/create-reviewers.ts'
import { impersonate } from '../auth/impersonate.ts'
import { issueToken } from '../auth/issue-token.ts'
import type { TokenSigner } from '../auth/json-web-token.ts'
import type { ObjectReader } from '../auth/object-reader.ts'
import { toAttributes } from '../auth/request-attributes.ts'
import type { RequestAttributes } from '../auth/request-attributes.ts'
import type { TokenRequestSpec } from '../auth/token-request.ts'
import { ANONYMOUS } from '../auth/user-names.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { jsonResponse } from '../rest/api-request.ts'
import type { ApiRequest, ApiResponse } from '../rest/api-request.ts'
import type { Api } from '../rest/create-api.ts'
import { decodeBody, readDocument } from '../rest/decode-body.ts'
import { parseRequestInfo } from '../rest/request-info.ts'
import type { RequestInfo } from '../rest/request-info.ts'

export interface GuardDeps {
  readonly api: Api
  readonly objects: ObjectReader
  readonly signer: TokenSigner
  readonly clock: Clock
  readonly newUid: () => string
}

const MAX_REVIEW_BYTES = 64 * 1024

/** The API for users: who is not known or may not do what is asked gets no further. Watches end when `stop` aborts. */
export function guardApi(deps: GuardDeps, stop: AbortSignal): Api {
  return {
    async handle(request, signal) {
      try {
        if (request.user === ANONYMOUS) throw unauthorized()
        const user = impersonate(request.user, request.headers)
        const info = parseRequestInfo(request.method, request.target)
        const attributes = toAttributes(user, info)
        const decision = authorize(attributes, deps.objects)
        if (!decision.allowed) throw refusal(attributes, decision.reason)
        const asked = { ...request, user }
        return (await answerOwn(deps, asked, info)) ?? (await handleUntil(deps.api, asked, [signal, stop]))
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

async function* releasing(body: AsyncIterable<string>, release: () => void): AsyncGenerator<string> {
  try {
    yield* body
  } finally {
    release()
  }
}

/** What is answered from knowledge of users alone; undefined for everything else. */
async function answerOwn(deps: GuardDeps, request: ApiRequest, info: RequestInfo): Promise<ApiResponse | undefined> {
  const { isResource, verb, group, version, resource, subresource } = info
  if (!isResource || verb !== 'create' || version !== 'v1') return undefined
  if (group === '' && resource === 'serviceaccounts' && subresource === 'token')
    return await answerToken(deps, request, info)
  if (group === 'authorization.k8s.io' && resource === 'selfsubjectrulesreviews' && subresource === '') {
    return jsonResponse(201, await answerRules(request))
  }
  return undefined
}

async function answerToken(
  deps: GuardDeps,
  request: ApiRequest,
  { namespace, name }: RequestInfo,
): Promise<ApiResponse> {
  const type = {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenRequest',
    typeName: 'authentication.TokenRequest',
  }
  const { object } = decodeBody(await readDocument(request, type), type)
  const { signer, objects, newUid } = deps
  const spec = (object['spec'] ?? {}) as TokenRequestSpec
  const answer = issueToken(
    { signer, objects, newUid, now: deps.clock.now() },
    { user: request.user, namespace, name, spec },
  )
  return jsonResponse(201, { ...object, metadata: { name, namespace }, ...answer })
}

/** Rules hold in all namespaces, so nothing that is asked makes a difference. */
async function answerRules(request: ApiRequest): Promise<object> {
  await request.readBody(MAX_REVIEW_BYTES)
  const head = { kind: 'SelfSubjectRulesReview', apiVersion: 'authorization.k8s.io/v1', metadata: {} }
  return { ...head, spec: {}, status: computeRulesStatus(request.user) }
}

function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
}

function refusal(attributes: RequestAttributes, reason: string): ApiError {
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
