import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import { badRequest, invalid } from '../../api-error.ts'
import type { ExpectedType, Resource } from '../../kinds/resource.ts'
import type { ApiObject } from '../../store/api-object.ts'
import { negotiateForm } from '../accept.ts'
import type { ApiDeps } from '../api-context.ts'
import { jsonResponse } from '../api-request.ts'
import type { ApiResponse } from '../api-request.ts'
import { presentObject } from '../present.ts'
import type { ResourceRequest } from '../resource-request.ts'

/** What a body of the request has to be. */
export function typeOf({ resource, subresource }: ResourceRequest): ExpectedType {
  return subresource?.kind ?? resource
}

/** The object with the place that the path gives it; they may not contradict each other. */
export function placed({ info, resource }: ResourceRequest, object: ApiObject): ApiObject {
  const { name, namespace } = object.metadata
  if (info.name !== '' && name && name !== info.name) {
    throw badRequest(
      `the name of the object (${name.slice(0, 253)}) does not match the name on the URL (${info.name.slice(0, 253)})`,
    )
  }
  if (namespace && resource.isNamespaced && namespace !== info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (namespace && !resource.isNamespaced) throw badRequest('namespace is not allowed on this type')
  const place = resource.isNamespaced ? { namespace: info.namespace } : {}
  return { ...object, metadata: { ...object.metadata, ...(info.name !== '' && { name: info.name }), ...place } }
}

/** The object in the form in which it is stored. */
export function toStored(resource: Resource, object: ApiObject): ApiObject {
  return resource.convert?.toStored(object) ?? object
}

/** A patch does not make another object of one. */
export function checkUid({ group, kind }: Resource, { metadata }: ApiObject, before: ApiObject): void {
  const { uid, name = '' } = before.metadata
  if (!metadata.uid || metadata.uid === uid) return
  const problems = new ProblemList()
  problems.invalid(FieldPath.root.child('metadata').child('uid'), metadata.uid, 'field is immutable')
  throw invalid({ group, kind, name }, problems.violations)
}

/** The answer to a write: the object, in the form that the client asks for. */
export function answer(
  deps: ApiDeps,
  { request, info, resource, subresource }: ResourceRequest,
  object: ApiObject,
  { status, warnings }: { readonly status: number; readonly warnings: readonly string[] },
): ApiResponse {
  if (subresource?.convert) return jsonResponse(status, subresource.convert.fromObject(object), warnings)
  const form = negotiateForm(request.headers['accept'])
  const includeObject = info.query.get('includeObject') || 'Metadata'
  return jsonResponse(status, presentObject({ resource, form, includeObject, now: deps.clock.now() }, object), warnings)
}
