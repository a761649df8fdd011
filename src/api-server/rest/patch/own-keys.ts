import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'

/** The value of a key that the object itself has; "constructor" and "__proto__" are keys like any other. */
export function ownValue(object: DocumentObject, key: string): DocumentValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function withoutKey(object: DocumentObject, key: string): DocumentObject {
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== key))
}
