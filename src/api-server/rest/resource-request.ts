import { methodNotAllowed, pathNotFound } from '../api-error.ts'
import type { Resource, Subresource } from '../kinds/resource.ts'
import type { StoreKey } from '../store/api-object.ts'
import { readDryRun } from './api-context.ts'
import type { ApiRequest } from './api-request.ts'
import type { RequestInfo } from './request-info.ts'
import { fieldManagerOf } from './write-options.ts'

/** A request that is known to be about a resource that is there. */
export interface ResourceRequest {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly resource: Resource
  readonly subresource: Subresource | undefined
}

/** The subresource of a path; undefined when the path has none. Throws when there is no such one, or it has no such verb. */
export function findSubresource(resource: Resource, info: RequestInfo): Subresource | undefined {
  if (info.subresource === '') return undefined
  const found = resource.subresources.find(({ name }) => name === info.subresource)
  if (found === undefined) throw pathNotFound()
  if (!found.verbs.includes(info.verb)) throw methodNotAllowed()
  return found
}

/** Where the object of a name is stored that the request is about. */
export function keyIn({ info, resource }: ResourceRequest, name: string): StoreKey {
  return { resource: resource.storage, namespace: resource.isNamespaced ? info.namespace : '', name }
}

/** The user of a request, whether it only asks what it would do, and who owns the fields that it changes. */
export function dryRunOf(request: ApiRequest, info: RequestInfo) {
  const isDryRun = readDryRun(info.query.getAll('dryRun').filter(Boolean))
  return { user: request.user, isDryRun, fieldManager: fieldManagerOf(request, info.query) }
}
