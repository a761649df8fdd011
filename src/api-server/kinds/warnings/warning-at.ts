import type { FieldPath } from '../../../model/schema/field-path.ts'

/** Advice about a field, as the API words it. */
export function warningAt(path: FieldPath, text: string): string {
  return `${path.toString()}: ${text}`
}
