import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'
import { ApiError, badRequest, conflict, notFound } from '../../api-error.ts'
import { forbiddenError } from '../../auth/forbidden-error.ts'
import { toAttributes } from '../../auth/request-attributes.ts'
import { mergeAppliedObject } from '../../apply/merge-applied-object.ts'
import { describeOwner, FieldConflictError } from '../../apply/field-conflicts.ts'
import { formatPath } from '../../apply/field-set.ts'
import type { ExpectedType } from '../../kinds/resource.ts'
import { namedIn } from '../../lifecycle/change-set.ts'
import type { ChangeSet } from '../../lifecycle/change-set.ts'
import { createObject } from '../../lifecycle/create-object.ts'
import { updateObject } from '../../lifecycle/update-object.ts'
import type { ApiObject } from '../../store/api-object.ts'
import { changeObjects } from '../api-context.ts'
import type { ApiDeps } from '../api-context.ts'
import type { ApiResponse } from '../api-request.ts'
import { decodeBody } from '../decode-body.ts'
import { dryRunOf, keyIn } from '../resource-request.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { isTrue } from '../request-info.ts'
import { checkWriteOptions } from '../write-options.ts'
import { readApplied } from './applied-body.ts'
import { answer, checkUid, placed, toStored, typeOf } from './written-object.ts'

/** PATCH with an object that is applied: what it says is merged into what is there, and belongs to the manager who says it. */
export async function applyVerb(deps: ApiDeps, asked: ResourceRequest, signal: AbortSignal): Promise<ApiResponse> {
  checkWriteOptions(asked, true)
  const { request, info, resource } = asked
  const how = dryRunOf(request, info)
  const body = await readApplied(asked)
  const key = keyIn(asked, info.name)
  checkKind(typeOf(asked), body.value)
  const creation = { ...toAttributes(request.user, info), verb: 'create' }
  if (deps.store.get(key) === undefined) await deps.admitNew(request.user, resource, toObject(body.value), signal)
  let status = 200
  const { object, warnings: advice } = await changeObjects(deps, how, (changes) => {
    if (changes.get(key) !== undefined) return { key, object: update(changes, asked, body.value) }
    if (asked.subresource !== undefined) throw notFound(namedIn(resource, info.name))
    // What is not there is made, which needs the right to do so.
    const { allowed, reason } = deps.authorize(creation)
    if (!allowed) throw forbiddenError(creation, reason)
    status = 201
    return { key, object: create(changes, asked, body.value) }
  })
  return answer(deps, asked, object, { status, warnings: [...body.warnings, ...advice] })
}

function toObject(applied: DocumentObject): ApiObject {
  return { ...applied, metadata: applied['metadata'] ?? {} } as unknown as ApiObject
}

function create(changes: ChangeSet, asked: ResourceRequest, applied: DocumentObject): ApiObject {
  const { resource, info } = asked
  const { uid } = (applied['metadata'] ?? {}) as { readonly uid?: string }
  const made = merge(changes, asked, applied, undefined)
  if (uid !== undefined) {
    throw conflict(
      namedIn(resource, info.name),
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    )
  }
  const { resourceVersion: _, ...metadata } = made.metadata
  return createObject(changes, resource, { ...made, metadata }, true)
}

function update(changes: ChangeSet, asked: ResourceRequest, applied: DocumentObject): ApiObject {
  const { resource, info, subresource } = asked
  const path = subresource?.convert === undefined ? {} : { path: subresource.name }
  return updateObject(changes, resource, {
    key: keyIn(asked, info.name),
    ...(subresource?.convert === undefined && { subresource }),
    ...path,
    isApply: true,
    change: (before) => merge(changes, asked, applied, before),
  })
}

/** The object as it would be, in the form in which it is stored, with its owners. */
function merge(
  changes: ChangeSet,
  asked: ResourceRequest,
  applied: DocumentObject,
  before: ApiObject | undefined,
): ApiObject {
  const { resource, subresource, info } = asked
  const writer = changes.fieldWriter
  if (writer === undefined) throw new Error('an apply has a manager')
  const isForced = isTrue(info.query.get('force') || 'false')
  const decode = (value: DocumentValue) => {
    const decoded = decodeBody({ value, duplicates: [] }, typeOf(asked)).object
    if (!decoded.metadata.name) throw badRequest('the name of the object must be provided')
    if (before !== undefined) checkUid(resource, decoded, before)
    return toStored(resource, placed(asked, decoded))
  }
  try {
    return mergeAppliedObject(resource, subresource, { before, applied, decode }, { ...writer, isForced })
  } catch (error) {
    if (error instanceof FieldConflictError) throw toConflict(error)
    throw error
  }
}

function toConflict(error: FieldConflictError): ApiError {
  const causes = error.conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeOwner(owner)}`,
    field: formatPath(path),
  }))
  return new ApiError({ code: 409, reason: 'Conflict', message: error.message, details: { causes } }, { cause: error })
}

function checkKind(type: ExpectedType, applied: DocumentObject): void {
  const { apiVersion, kind } = applied
  const expected = type.group === '' ? type.version : `${type.group}/${type.version}`
  if (apiVersion === expected && kind === type.kind) return
  const text = typeof apiVersion === 'string' ? apiVersion : ''
  const [group, version] = text.includes('/') ? text.split('/') : ['', text]
  throw badRequest(`invalid object type: ${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`)
}
