import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { FieldSet } from './field-set.ts'
import type { ElementPath } from './field-set.ts'
import { indexItems } from './list-items.ts'
import { memberSchema, resolveSchema, wholeValue } from './merge-schema.ts'
import type { ListSchema, MapSchema, MergeSchema } from './merge-schema.ts'

/** Which parts of an object are new, gone or have another value. */
export interface Comparison {
  readonly added: FieldSet
  readonly removed: FieldSet
  readonly modified: FieldSet
}

/** A value; undefined: there is none, which null is not. */
type Side = DocumentValue | undefined

/** Holds two objects of one schema against each other. */
export function compareValues(before: DocumentValue, after: DocumentValue, schema: MergeSchema): Comparison {
  const result = { added: new FieldSet(), removed: new FieldSet(), modified: new FieldSet() }
  compare(result, schema, before, after, [])
  return result
}

function compare(result: Comparison, schema: MergeSchema, before: Side, after: Side, path: ElementPath): void {
  if (before === after) return
  const resolved = resolveSchema(schema, after ?? before)
  if (isLeaf(resolved, before, after)) {
    if (before === undefined) result.added.insert(path)
    else if (after === undefined) result.removed.insert(path)
    else if (!sameValue(before, after)) result.modified.insert(path)
    return
  }
  if (resolved.kind === 'map') compareMaps(result, resolved, fieldsOf(before), fieldsOf(after), path)
  else if (resolved.kind === 'list') compareLists(result, resolved, itemsOf(before), itemsOf(after), path)
  if (before === undefined) result.added.insert(path)
  else if (after === undefined) result.removed.insert(path)
}

/** Whether the value is compared as one. Two that are both empty are: an empty one is not the same as none. */
function isLeaf(schema: ReturnType<typeof resolveSchema>, before: Side, after: Side): boolean {
  switch (schema.kind) {
    case 'scalar':
      return true
    case 'map':
      return schema.isAtomic || (isEmptyMap(before) && isEmptyMap(after))
    case 'list':
      return schema.relation === 'atomic' || (itemsOf(before).length === 0 && itemsOf(after).length === 0)
  }
}

function isEmptyMap(value: Side): boolean {
  return !isRecord(value) || Object.values(value).every((member) => member === undefined)
}

function compareMaps(
  result: Comparison,
  schema: MapSchema,
  before: DocumentObject,
  after: DocumentObject,
  path: ElementPath,
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inner = memberSchema(schema, name) ?? wholeValue
    compare(result, inner, own(before, name), own(after, name), [...path, `f:${name}`])
  }
}

function compareLists(
  result: Comparison,
  schema: ListSchema,
  before: readonly DocumentValue[],
  after: readonly DocumentValue[],
  path: ElementPath,
): void {
  const old = indexItems(schema, before)
  const fresh = indexItems(schema, after)
  for (const element of new Set([...old.keys(), ...fresh.keys()])) {
    const [left = [], right = []] = [old.get(element), fresh.get(element)]
    const inner = [...path, element]
    if (left.length <= 1 && right.length <= 1) compare(result, schema.items, left[0], right[0], inner)
    // Items that share their keys count as one value: no manager can own a part of one of them.
    else if (left.length > 1 && right.length > 1) {
      if (!sameValue(left, right)) result.modified.insert(inner)
    } else if (left.length > 1) {
      if (right.length > 0) compare(result, schema.items, undefined, right[0], inner)
      result.removed.insert(inner)
    } else {
      if (left.length > 0) compare(result, schema.items, left[0], undefined, inner)
      result.added.insert(inner)
    }
  }
}

function own(object: DocumentObject, name: string): Side {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function fieldsOf(value: Side): DocumentObject {
  return isRecord(value) ? value : {}
}

function itemsOf(value: Side): readonly DocumentValue[] {
  return Array.isArray(value) ? (value as readonly DocumentValue[]) : []
}
