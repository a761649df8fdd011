import { ApiError, badRequest, invalidPatch } from '../../api-error.ts'
import { forbiddenError } from '../../auth/forbidden-error.ts'
import { toAttributes } from '../../auth/request-attributes.ts'
import type { ChangeSet } from '../../lifecycle/change-set.ts'
import { createObject } from '../../lifecycle/create-object.ts'
import { updateObject } from '../../lifecycle/update-object.ts'
import type { ObjectUpdate } from '../../lifecycle/update-object.ts'
import type { ApiObject, StoreKey } from '../../store/api-object.ts'
import { changeObjects } from '../api-context.ts'
import type { ApiDeps } from '../api-context.ts'
import type { ApiResponse } from '../api-request.ts'
import { applyFieldValidation, decodeBody, readDocument, readJson } from '../decode-body.ts'
import type { DecodedBody, Document } from '../decode-body.ts'
import { applyPatch, isApplyType, patchKindOf } from '../patch/apply-patch.ts'
import { fromStored } from '../present.ts'
import { checkWriteOptions } from '../write-options.ts'
import { applyVerb } from './apply-verb.ts'
import { dryRunOf, keyIn } from '../resource-request.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { answer, checkUid, placed, toStored, typeOf } from './written-object.ts'

/** POST of a new object. */
export async function createVerb(deps: ApiDeps, asked: ResourceRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { request, info, resource } = asked
  if (resource.isNamespaced && info.namespace === '')
    throw badRequest('an empty namespace may not be set during creation')
  checkWriteOptions(asked)
  const { object: sent, warnings } = await readObject(asked)
  const stored = toStored(resource, placed(asked, sent))
  await deps.admitNew(request.user, resource, stored, signal)
  const { object, warnings: advice } = await changeObjects(deps, dryRunOf(request, info), (changes) => {
    const made = createObject(changes, resource, stored)
    return { key: keyIn(asked, made.metadata.name ?? ''), object: made }
  })
  return answer(deps, asked, object, { status: 201, warnings: [...warnings, ...advice] })
}

/** PUT of a whole object, or of what a subresource has of it. */
export async function updateVerb(deps: ApiDeps, asked: ResourceRequest): Promise<ApiResponse> {
  const { request, info, resource } = asked
  checkWriteOptions(asked)
  const { object: sent, warnings } = await readObject(asked)
  if (!sent.metadata.name) throw badRequest('the name of the object must be provided')
  const named = placed(asked, sent)
  const stored = toStored(resource, named)
  const key = keyIn(asked, info.name)
  let status = 200
  const creation = { ...toAttributes(request.user, info), verb: 'create' }
  const mayCreate = deps.authorize(creation)
  const { object, warnings: advice } = await changeObjects(deps, dryRunOf(request, info), (changes) => {
    if (createsOnUpdate(changes, asked, key, stored)) {
      if (!mayCreate.allowed) throw forbiddenError(creation, mayCreate.reason)
      status = 201
      return { key, object: createObject(changes, resource, stored) }
    }
    return {
      key,
      object: updateObject(
        changes,
        resource,
        toUpdate(asked, key, () => stored),
      ),
    }
  })
  return answer(deps, asked, object, { status, warnings: [...warnings, ...advice] })
}

/** PATCH of an object that is there, or an apply, which may also make one. */
export async function patchVerb(deps: ApiDeps, asked: ResourceRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { request, info, resource, subresource } = asked
  if (isApplyType(request.headers['content-type'])) return await applyVerb(deps, asked, signal)
  const kind = patchKindOf(request.headers['content-type'], resource.schema !== undefined)
  checkWriteOptions(asked)
  const patch = await readJson(request)
  const key = keyIn(asked, info.name)
  let unknown: readonly string[] = []
  const change = (before: ApiObject): ApiObject => {
    const patched = subresource?.convert?.fromObject(before) ?? fromStored(resource, before)
    const value = applyPatch(kind, patched, patch.value, typeOf(asked).typeName)
    const decoded = decodePatched(asked, { value, duplicates: patch.duplicates })
    unknown = decoded.warnings
    checkUid(resource, decoded.object, before)
    return toStored(resource, placed(asked, decoded.object))
  }
  const { object, warnings: advice } = await changeObjects(deps, dryRunOf(request, info), (changes) => ({
    key,
    object: updateObject(changes, resource, toUpdate(asked, key, change)),
  }))
  const warnings = [...applyFieldValidation(info.query, unknown), ...advice]
  return answer(deps, asked, object, { status: 200, warnings })
}

/** What comes of a patch, as an object; the fault is the patch's when it is none. */
function decodePatched(asked: ResourceRequest, document: Document): DecodedBody {
  try {
    const decoded = decodeBody(document, typeOf(asked))
    applyFieldValidation(asked.info.query, decoded.warnings)
    return decoded
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 400) throw invalidPatch(error.message, { cause: error })
    throw error
  }
}

/** What is sent to a subresource of another kind is a change of the object itself. */
function toUpdate(
  { subresource }: ResourceRequest,
  key: StoreKey,
  change: (before: ApiObject) => ApiObject,
): ObjectUpdate {
  const { convert, name } = subresource ?? {}
  if (convert === undefined) return { key, subresource, change }
  return { key, path: name ?? '', change: (before) => convert.toObject(change(before), before) }
}

function createsOnUpdate(
  changes: ChangeSet,
  { resource, subresource }: ResourceRequest,
  key: StoreKey,
  sent: ApiObject,
): boolean {
  if (!resource.createsOnUpdate || subresource !== undefined || changes.get(key) !== undefined) return false
  return !sent.metadata.resourceVersion && !sent.metadata.uid
}

/** The body as an object of the type that the path is for. */
async function readObject(asked: ResourceRequest): Promise<DecodedBody> {
  const decoded = decodeBody(await readDocument(asked.request, typeOf(asked)), typeOf(asked))
  return { object: decoded.object, warnings: applyFieldValidation(asked.info.query, decoded.warnings) }
}
