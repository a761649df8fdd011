import { ObjectError } from '../../src/pods/objects/object-api.ts'
import type { NamespacedName, ReferencedKind } from '../../src/pods/objects/object-api.ts'

/** As an API server words it: in the plural. */
export function apiNotFound(kind: ReferencedKind, { name }: NamespacedName): ObjectError {
  return new ObjectError('NotFound', `${kind.toLowerCase()}s "${name}" not found`)
}
