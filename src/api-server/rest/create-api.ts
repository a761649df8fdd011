import { ApiError, internalError, methodNotAllowed, pathNotFound } from '../api-error.ts'
import { ASKED_V2_TYPE, OPENAPI_V2_TYPE } from '../openapi/encode-openapi-v2.ts'
import { formatMetrics } from '../../base/telemetry/format-metrics.ts'
import { allResources, findResource, resourceOfStorage } from '../kinds/all-resources.ts'
import { StoreFullError } from '../store/store-errors.ts'
import { METRICS_GROUP } from '../metrics/metrics-resources.ts'
import { metricsVerb } from '../metrics/metrics-verbs.ts'
import { prefers, wantsAggregatedDiscovery } from './accept.ts'
import type { ApiDeps } from './api-context.ts'
import { jsonResponse, textResponse } from './api-request.ts'
import type { ApiRequest, ApiResponse } from './api-request.ts'
import { readDocument } from './decode-body.ts'
import { bindVerb, deleteCollectionVerb, deleteVerb, evictVerb } from './verbs/delete-verbs.ts'
import { aggregatedDiscovery, groupList, groupOf, legacyVersions, resourceList } from './discovery.ts'
import { OpenApi } from '../openapi/openapi.ts'
import { getVerb, listVerb, watchVerb } from './verbs/read-verbs.ts'
import { passVerb } from './verbs/pass-verb.ts'
import { parseRequestInfo } from './request-info.ts'
import type { RequestInfo } from './request-info.ts'
import { RequestCounts } from './request-counts.ts'
import { answerReview } from './verbs/reviews.ts'
import { createVerb, findSubresource, patchVerb, updateVerb } from './verbs/write-verbs.ts'
import type { ResourceRequest } from './verbs/write-verbs.ts'

/** The API as a function: a request to an answer. It never throws; the signal ends watches. */
export interface Api {
  handle(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse>
}

interface OwnParts {
  readonly openApi: OpenApi
  readonly counts: RequestCounts
}

/** The Kubernetes API of one node over a store. */
export function createApi(deps: ApiDeps): Api {
  const parts: OwnParts = { openApi: new OpenApi(deps.version), counts: new RequestCounts() }
  return {
    async handle(request, signal) {
      let info: RequestInfo | undefined
      try {
        info = parseRequestInfo(request.method, request.target)
        if (!info.isResource) return handlePath(deps, parts, request, info)
        const answer = await handleResource(deps, request, info, signal)
        parts.counts.count(info, answer.status)
        return answer
      } catch (error) {
        const refusal = toRefusal(deps, request, error)
        if (info?.isResource === true) parts.counts.count(info, refusal.status)
        return refusal
      }
    },
  }
}

function toRefusal(deps: ApiDeps, request: ApiRequest, error: unknown): ApiResponse {
  const { status } = toApiError(deps, request, error)
  const answer = jsonResponse(status.code, status)
  const seconds = status.details?.retryAfterSeconds
  return seconds === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } }
}

function toApiError(deps: ApiDeps, request: ApiRequest, error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StoreFullError) {
    return new ApiError({ code: 507, reason: 'InsufficientStorage', message: error.message }, { cause: error })
  }
  deps.log.error('a request to the API failed', { method: request.method, target: request.target.slice(0, 500), error })
  return internalError(error instanceof Error ? error.message : 'unknown', { cause: error })
}

async function handleResource(
  deps: ApiDeps,
  request: ApiRequest,
  info: RequestInfo,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const resource = findResource(info.group, info.version, info.resource)
  if (resource === undefined || (info.namespace !== '' && !resource.isNamespaced)) throw pathNotFound()
  const isWholeNamespaced = resource.isNamespaced && info.namespace === ''
  if (isWholeNamespaced && info.name !== '') throw pathNotFound()
  const subresource = findSubresource(resource, info)
  if (subresource === undefined && !resource.verbs.includes(info.verb)) throw methodNotAllowed()
  if (info.verb === 'create' && info.name !== '' && subresource === undefined) throw methodNotAllowed()
  if (info.name === '' && (info.verb === 'update' || info.verb === 'patch')) throw methodNotAllowed()
  const asked: ResourceRequest = { request, info, resource, subresource }
  if (isReview(asked)) return await reviewVerb(deps, asked)
  if (resource.group === METRICS_GROUP) return await metricsVerb(deps, asked, signal)
  if (subresource?.isPassedOn === true) return await passVerb(deps.backends, asked, signal)
  switch (info.verb) {
    case 'get':
      return getVerb(deps, asked)
    case 'list':
      return listVerb(deps, asked)
    case 'watch':
      return watchVerb(deps, asked, signal)
    case 'create':
      if (subresource?.name === 'eviction') return await evictVerb(deps, asked)
      if (subresource?.name === 'binding' || resource.plural === 'bindings') return await bindVerb(deps, asked)
      return await createVerb(deps, asked)
    case 'update':
      return await updateVerb(deps, asked)
    case 'patch':
      return await patchVerb(deps, asked)
    case 'delete':
      return await deleteVerb(deps, asked)
    case 'deletecollection':
      return await deleteCollectionVerb(deps, asked)
    default:
      throw methodNotAllowed()
  }
}

const REVIEW_GROUPS = ['authentication.k8s.io', 'authorization.k8s.io']

function isReview({ resource }: ResourceRequest): boolean {
  return REVIEW_GROUPS.includes(resource.group)
}

async function reviewVerb(deps: ApiDeps, { request, resource }: ResourceRequest): Promise<ApiResponse> {
  const document = await readDocument(request, resource)
  return jsonResponse(201, await answerReview(deps.reviewers, resource, document, request.user))
}

/** Everything that is no resource: discovery, OpenAPI, version and health. */
function handlePath(deps: ApiDeps, parts: OwnParts, request: ApiRequest, { path, query }: RequestInfo): ApiResponse {
  const isVerbose = query.has('verbose')
  const found = answerPath(deps, { ...parts, isVerbose }, request, path.length > 1 ? path.replace(/\/$/, '') : path)
  if (found === undefined) throw pathNotFound()
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
  return found
}

function answerPath(
  deps: ApiDeps,
  { openApi, counts, isVerbose }: OwnParts & { readonly isVerbose: boolean },
  request: ApiRequest,
  path: string,
): ApiResponse | undefined {
  const json = (value: object | undefined) => (value === undefined ? undefined : jsonResponse(200, value))
  const [, root = '', second = '', third, ...more] = path.split('/')
  switch (root) {
    case 'api':
    case 'apis':
      if (path === `/${root}`) return discoveryRoot(request, root === 'api')
      if (root === 'api') return third === undefined ? json(resourceList('', second)) : undefined
      if (more.length > 0) return undefined
      return json(third === undefined ? groupOf(second) : resourceList(second, third))
    case 'openapi': {
      if (path === '/openapi/v2') return answerV2(openApi, request)
      if (path === '/openapi/v3') return json(openApi.v3.index())
      const document = path.startsWith('/openapi/v3/')
        ? openApi.v3.document(path.slice('/openapi/v3/'.length))
        : undefined
      return document === undefined ? undefined : textResponse(200, document)
    }
    case 'version':
      return path === '/version' ? json(versionInfo(deps.version)) : undefined
    case 'healthz':
    case 'livez':
    case 'readyz':
      return answerHealth(root, path, isVerbose)
    case 'metrics':
      return path === '/metrics' ? answerMetrics(deps, counts) : undefined
    default:
      return undefined
  }
}

/** What there is to check is that somebody answers and that the store is there, without which nobody would. */
const CHECKS = ['ping', 'store']

function answerHealth(root: string, path: string, isVerbose: boolean): ApiResponse | undefined {
  if (CHECKS.some((check) => path === `/${root}/${check}`)) return plain('ok')
  if (path !== `/${root}`) return undefined
  if (!isVerbose) return plain('ok')
  return plain([...CHECKS.map((check) => `[+]${check} ok`), `${root} check passed`, ''].join('\n'))
}

function answerMetrics({ store }: ApiDeps, counts: RequestCounts): ApiResponse {
  const objects = allResources
    .filter((resource) => resourceOfStorage(resource.storage) === resource)
    .map(({ group, plural, storage }) => ({
      name: 'apiserver_resource_objects',
      labels: { group, resource: plural },
      value: store.count({ resource: storage }),
    }))
    .filter(({ value }) => value > 0)
  const help = '[ALPHA] Objects of each resource.'
  const stored = { name: 'apiserver_resource_objects', help, type: 'gauge', samples: objects } as const
  const { type, body } = formatMetrics([...counts.families(), stored], 'text')
  return { status: 200, headers: { 'content-type': type }, body }
}

function answerV2(openApi: OpenApi, request: ApiRequest): ApiResponse {
  if (!prefers(request.headers['accept'], ASKED_V2_TYPE)) return textResponse(200, openApi.v2Text())
  return { status: 200, headers: { 'content-type': OPENAPI_V2_TYPE }, body: inOnePiece(openApi.v2Bytes()) }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

function discoveryRoot(request: ApiRequest, isCore: boolean): ApiResponse {
  if (!wantsAggregatedDiscovery(request.headers['accept']))
    return jsonResponse(200, isCore ? legacyVersions() : groupList())
  const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const answer = jsonResponse(200, aggregatedDiscovery(isCore))
  return { ...answer, headers: { ...answer.headers, 'content-type': type, vary: 'Accept' } }
}

function plain(body: string): ApiResponse {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

function versionInfo(version: string): object {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? []
  return {
    major,
    minor,
    gitVersion: version,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: '',
    platform: 'linux/amd64',
  }
}
