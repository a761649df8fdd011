import { isRecord } from '../../../base/document/is-record.ts'
import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'
import { ApiError, badRequest, unsupportedMediaType } from '../../api-error.ts'
import type { ApiObject } from '../../store/api-object.ts'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './json-merge-patch.ts'
import { PatchError } from './patch-error.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

export type PatchKind = 'json' | 'merge' | 'strategic'

const KINDS: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
}

const APPLY_TYPE = 'application/apply-patch+yaml'

/** Whether a content type names no patch but an object that is applied. */
export function isApplyType(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType) === APPLY_TYPE
}

function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Which kind of patch a content type names. */
export function patchKindOf(contentType: string | undefined, isCustom: boolean): PatchKind {
  const type = mediaTypeOf(contentType)
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  // How its lists are to be merged is nothing that a definition says.
  const isTaken = kind !== undefined && !(isCustom && kind === 'strategic')
  if (isTaken) return kind
  const kinds = Object.keys(KINDS).filter((each) => !isCustom || KINDS[each] !== 'strategic')
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${[...kinds, APPLY_TYPE].join(', ')}`,
  )
}

/** An object with a patch applied, not yet decoded again. */
export function applyPatch(kind: PatchKind, object: ApiObject, patch: DocumentValue, typeName: string): DocumentValue {
  const target: DocumentObject = Object.fromEntries(Object.entries(object))
  try {
    switch (kind) {
      case 'json':
        return applyJsonPatch(target, patch)
      case 'merge':
        if (!isRecord(patch)) throw new PatchError('expected an object', true)
        return applyMergePatch(target, patch)
      case 'strategic':
        return applyStrategicMergePatch(target, patch, typeName)
    }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    if (error.isMalformed) throw badRequest(`cannot apply the patch: ${error.message}`, { cause: error })
    const message = `the server rejected our request due to an error in our request: ${error.message}`
    throw new ApiError({ code: 422, reason: 'Invalid', message }, { cause: error })
  }
}
