import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { FieldSet } from './field-set.ts'
import type { ElementPath } from './field-set.ts'
import { indexItems } from './list-items.ts'
import { memberSchema, resolveSchema, wholeValue } from './merge-schema.ts'
import type { MergeSchema } from './merge-schema.ts'

/** The parts of an object that the one who applies it owns: its values, its items, and what it says to be empty. */
export function appliedFields(value: DocumentValue, schema: MergeSchema): FieldSet {
  const set = new FieldSet()
  collect(set, value, schema, [])
  return set
}

function collect(set: FieldSet, value: DocumentValue, schema: MergeSchema, path: ElementPath): void {
  const resolved = resolveSchema(schema, value)
  if (resolved.kind === 'scalar') return set.insert(path)
  if (resolved.kind === 'map') {
    if (resolved.isAtomic) return set.insert(path)
    if (!isRecord(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      const inner = [...path, `f:${name}`]
      collect(set, member, memberSchema(resolved, name) ?? wholeValue, inner)
      const isEmpty = member === null || (isRecord(member) && Object.keys(member).length === 0)
      if (isEmpty || resolved.fieldOf(name) === undefined) set.insert(inner)
    }
    return
  }
  if (resolved.relation === 'atomic') return set.insert(path)
  if (!Array.isArray(value)) return
  for (const [element, items] of indexItems(resolved, value as readonly DocumentValue[])) {
    const inner = [...path, element]
    const [only] = items
    if (items.length === 1 && only !== undefined) collect(set, only, resolved.items, inner)
    set.insert(inner)
  }
}
