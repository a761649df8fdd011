import { ObjectError } from '../../src/pods/objects/object-api.ts'
import type { ObjectKey, ObjectKind } from '../../src/pods/objects/object-api.ts'

/** As an API server words it: in the plural. */
export function apiNotFound(kind: ObjectKind, { name }: ObjectKey): ObjectError {
  return new ObjectError('NotFound', `${kind.toLowerCase()}s "${name}" not found`)
}
