import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { setKey } from '../../base/document/position-index.ts'
import type { FieldSet } from './field-set.ts'
import { elementOf } from './list-items.ts'
import { memberSchema, resolveSchema, wholeValue } from './merge-schema.ts'
import type { MergeSchema } from './merge-schema.ts'

/** A value without the members of a set; null where nothing of a part is left. */
export function removeFields(value: DocumentValue, fields: FieldSet, schema: MergeSchema): DocumentValue {
  const resolved = resolveSchema(schema, value)
  if (resolved.kind === 'map' && isRecord(value) && !resolved.isAtomic) {
    const result = {}
    for (const [name, member] of Object.entries(value)) {
      const element = `f:${name}`
      if (member === undefined || fields.has([element])) continue
      const below = fields.below(element)
      const inner = memberSchema(resolved, name) ?? wholeValue
      setKey(result, name, below === undefined ? member : removeFields(member, below, inner))
    }
    return Object.keys(result).length === 0 ? null : result
  }
  if (resolved.kind === 'list' && Array.isArray(value) && resolved.relation !== 'atomic') {
    const kept: DocumentValue[] = []
    for (const item of value as readonly DocumentValue[]) {
      const element = elementOf(resolved, item)
      if (fields.has([element])) continue
      const below = fields.below(element)
      kept.push(below === undefined ? item : removeFields(item, below, resolved.items))
    }
    return kept.length === 0 ? null : kept
  }
  return resolved.kind === 'scalar' ? value : null
}
