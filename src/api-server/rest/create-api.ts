import { errorMessage } from '../../base/telemetry/error-text.ts'
import { ApiError, forbidden, internalError, methodNotAllowed, pathNotFound } from '../api-error.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import type { Resource } from '../kinds/resource.ts'
import { StoreFullError } from '../store/store-errors.ts'
import { METRICS_GROUP } from '../resource-metrics/metrics-resources.ts'
import { metricsVerb } from '../resource-metrics/metrics-verbs.ts'
import { answerPath } from './answer-path.ts'
import type { PathParts } from './answer-path.ts'
import { BACKUP_PATH } from './backup-path.ts'
import type { ApiDeps } from './api-context.ts'
import { jsonResponse, toWarnings } from './api-request.ts'
import type { ApiRequest, ApiResponse } from './api-request.ts'
import { readDocument } from './decode-body.ts'
import { deleteCollectionVerb, deleteVerb } from './verbs/delete-verbs.ts'
import { bindVerb, evictVerb } from './verbs/pod-verbs.ts'
import { OpenApi } from '../openapi/openapi.ts'
import { getVerb, listVerb, watchVerb } from './verbs/read-verbs.ts'
import { passVerb } from './verbs/pass-verb.ts'
import { parseRequestInfo } from './request-info.ts'
import type { RequestInfo } from './request-info.ts'
import { RequestCounts } from './request-counts.ts'
import { answerReview } from './verbs/reviews.ts'
import { findSubresource } from './resource-request.ts'
import { createVerb, patchVerb, updateVerb } from './verbs/write-verbs.ts'
import type { ResourceRequest } from './resource-request.ts'

/** The API as a function: a request to an answer. It never throws; the signal ends watches. */
export interface Api {
  handle(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse>
}

/** The Kubernetes API of one node over a store. */
export function createApi(deps: ApiDeps): Api {
  const parts: PathParts = { openApi: new OpenApi(deps.version), counts: new RequestCounts() }
  return {
    async handle(request, signal) {
      let info: RequestInfo | undefined
      try {
        info = parseRequestInfo(request.method, request.target)
        if (info.path === BACKUP_PATH) return await answerBackup(deps, request)
        if (!info.isResource) return answerPath(deps, parts, request, info)
        const answer = await handleResource(deps, request, info, signal)
        parts.counts.count(info, answer.status)
        return withDeprecation(deps, info, answer)
      } catch (error) {
        const response = toErrorResponse(deps, request, error)
        if (info?.isResource !== true) return response
        parts.counts.count(info, response.status)
        return withDeprecation(deps, info, response)
      }
    },
  }
}

/** Copies the store to the place of its copy, which the caller reads by itself: it is on this machine, and for root alone. */
async function answerBackup({ store }: ApiDeps, { method }: ApiRequest): Promise<ApiResponse> {
  if (method !== 'POST') throw methodNotAllowed()
  await store.backUp()
  return jsonResponse(200, {})
}

/** A client that asks about a deprecated kind gets a warning in every answer, whether the request succeeds or fails. */
function withDeprecation(
  { resources }: ApiDeps,
  { group, version, resource }: RequestInfo,
  answer: ApiResponse,
): ApiResponse {
  const warning = resources.find(group, version, resource)?.deprecation
  if (warning === undefined) return answer
  const { warning: others = [] } = answer.headers
  return { ...answer, headers: { ...answer.headers, warning: [...toWarnings([warning]), ...[others].flat()] } }
}

function toErrorResponse(deps: ApiDeps, request: ApiRequest, error: unknown): ApiResponse {
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
  return internalError(errorMessage(error), { cause: error })
}

async function handleResource(
  deps: ApiDeps,
  request: ApiRequest,
  info: RequestInfo,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const resource = deps.resources.find(info.group, info.version, info.resource)
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
  refuseIfSwitchedOff(deps, asked)
  switch (info.verb) {
    case 'get':
      return getVerb(deps, asked)
    case 'list':
      return listVerb(deps, asked)
    case 'watch':
      return watchVerb(deps, asked, untilChanged(deps, resource, signal))
    case 'create':
      if (subresource?.name === 'eviction') return await evictVerb(deps, asked)
      if (subresource?.name === 'binding' || resource.plural === 'bindings') return await bindVerb(deps, asked)
      return await createVerb(deps, asked, signal)
    case 'update':
      return await updateVerb(deps, asked)
    case 'patch':
      return await patchVerb(deps, asked, signal)
    case 'delete':
      return await deleteVerb(deps, asked)
    case 'deletecollection':
      return await deleteCollectionVerb(deps, asked)
    default:
      throw methodNotAllowed()
  }
}

/** A watch ends when its resource is not any more what it was. */
function untilChanged({ resources }: ApiDeps, resource: Resource, signal: AbortSignal): AbortSignal {
  const end = resources.endOf(resource)
  return end === undefined ? signal : AbortSignal.any([signal, end])
}

/** What nothing would act on is not taken. It can still be read and deleted. */
function refuseIfSwitchedOff({ switchedOff, store }: ApiDeps, { info, resource }: ResourceRequest): void {
  const why = resource.refusal ?? switchedOff?.get(resource.storage)
  if (why === undefined || !['create', 'update', 'patch'].includes(info.verb)) return
  if (resource.rules.isServedByOthers?.(createObjectReader(store)) === true) return
  throw forbidden({ group: resource.group, resource: resource.plural, name: info.name }, why)
}

const REVIEW_GROUPS = ['authentication.k8s.io', 'authorization.k8s.io']

function isReview({ resource }: ResourceRequest): boolean {
  return REVIEW_GROUPS.includes(resource.group)
}

async function reviewVerb(deps: ApiDeps, { request, info, resource }: ResourceRequest): Promise<ApiResponse> {
  const document = await readDocument(request, resource)
  const { namespace } = info
  return jsonResponse(201, await answerReview(deps.reviewers, resource, document, { user: request.user, namespace }))
}
