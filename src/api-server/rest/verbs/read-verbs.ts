import { badRequest, notFound, versionTooLarge } from '../../api-error.ts'
import { namedIn } from '../../lifecycle/change-set.ts'
import { negotiateForm } from '../accept.ts'
import type { ApiDeps } from '../api-context.ts'
import { JSON_TYPE, jsonResponse, textResponse } from '../api-request.ts'
import type { ApiResponse } from '../api-request.ts'
import { listObjects, parseSelection, readVersion } from '../lists/list-objects.ts'
import { fromStored, presentList, presentText } from '../present.ts'
import { planWatch, watchObjects } from '../lists/watch-objects.ts'
import { keyIn } from '../resource-request.ts'
import type { ResourceRequest } from '../resource-request.ts'

const INCLUDES = ['None', 'Metadata', 'Object']

export function getVerb(deps: ApiDeps, asked: ResourceRequest): ApiResponse {
  const { info, resource } = asked
  const how = presentationOf(asked)
  const version = readVersion(info.query)
  if (version !== undefined && version > deps.store.version) throw versionTooLarge(version, deps.store.version)
  const stored = deps.store.get(keyIn(asked, info.name))
  if (stored === undefined) throw notFound(namedIn(resource, info.name))
  const { convert } = asked.subresource ?? {}
  if (convert !== undefined) return jsonResponse(200, convert.fromObject(fromStored(resource, stored.object)))
  return textResponse(200, presentText({ ...how, now: deps.clock.now() }, stored))
}

export function listVerb(deps: ApiDeps, asked: ResourceRequest): ApiResponse {
  const { info, resource } = asked
  const how = presentationOf(asked)
  const { items, metadata } = listObjects(deps.store, parseSelection(resource, info.namespace, info.query), info.query)
  return textResponse(200, presentList({ ...how, now: deps.clock.now() }, items, metadata))
}

export function watchVerb(deps: ApiDeps, asked: ResourceRequest, signal: AbortSignal): ApiResponse {
  const { info, resource } = asked
  const how = presentationOf(asked)
  const selection = parseSelection(resource, info.namespace, info.query)
  const plan = planWatch(deps, info.query)
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-cache, private' },
    body: watchObjects(deps, selection, { plan, how }, signal),
  }
}

/** How what is read is to be shown. */
export function presentationOf({ request, info, resource }: ResourceRequest) {
  const includeObject = info.query.get('includeObject') || 'Metadata'
  if (!INCLUDES.includes(includeObject)) {
    throw badRequest(
      `invalid includeObject ${JSON.stringify(includeObject.slice(0, 50))}: expected ${INCLUDES.join(', ')}`,
    )
  }
  return { resource, form: negotiateForm(request.headers['accept']), includeObject }
}
