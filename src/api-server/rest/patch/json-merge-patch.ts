import type { DocumentValue } from '../../../base/document/document-value.ts'
import { setKey } from '../../../base/document/position-index.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { ownValue } from './own-keys.ts'

/** RFC 7386: objects are merged, null takes away, everything else replaces. */
export function applyMergePatch(target: DocumentValue | undefined, patch: DocumentValue): DocumentValue {
  if (!isRecord(patch)) return patch
  const result = { ...(isRecord(target) ? target : {}) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key)
    else setKey(result, key, applyMergePatch(ownValue(result, key), value))
  }
  return result
}
