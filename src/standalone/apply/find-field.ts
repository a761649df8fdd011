import type { Segments } from '../../base/document/document-value.ts'

// As the API words it: unknown field "spec.a[0].b"; Pod "x" is invalid: [spec.a[0].b: Required value, …]
const FIELD = /(?:unknown field "|is invalid: \[?)([\w.[\]-]+)/

/** The field that a refusal of the API is about first; undefined when it names none. */
export function findField(reason: string): Segments | undefined {
  const path = FIELD.exec(reason)?.[1]
  return path?.match(/[^.[\]]+/g)?.map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}
