import { setKey } from '../../base/document/position-index.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { isEmbedded, itemsOf, keepsUnknown, memberOf, OBJECT_FIELDS, valuesOf } from './schema.ts'
import type { Schema } from './schema.ts'

type Values = Readonly<Record<string, unknown>>

/** An object without fields that its schema does not know; each of those is reported. */
export function pruneObject(object: Values, schema: Schema, report: (path: string) => void = () => {}): Values {
  return pruneValue(object, schema, '', report, true) as Values
}

function pruneValue(
  value: unknown,
  schema: Schema | undefined,
  path: string,
  report: (path: string) => void,
  isObject = schema !== undefined && isEmbedded(schema),
): unknown {
  if (Array.isArray(value)) {
    const items = schema && itemsOf(schema)
    // A list that keeps everything keeps its items too.
    const kept = items ?? (schema !== undefined && keepsUnknown(schema) ? schema : undefined)
    return value.map((item, index) => pruneValue(item, kept, `${path}[${index}]`, report))
  }
  if (!isRecord(value)) return value
  const result = {}
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    if (isObject && OBJECT_FIELDS.includes(name)) setKey(result, name, member)
    else if (schema === undefined) report(at)
    else if (memberOf(schema, name) !== undefined) {
      setKey(result, name, pruneValue(member, memberOf(schema, name), at, report))
    } else if (keepsUnknown(schema)) setKey(result, name, member)
    else if (valuesOf(schema) === true) setKey(result, name, pruneValue(member, undefined, at, report))
    else report(at)
  }
  return result
}

/** An object without nulls that nothing allows, and with the defaults of what is missing in it. */
export function fillObject(object: Values, schema: Schema): Values {
  return fillValue(object, schema) as Values
}

function fillValue(value: unknown, schema: Schema | undefined): unknown {
  if (schema === undefined) return value
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    if (items === undefined) return value
    return value.map((item: unknown) => {
      const isReplaced = item === null && items.nullable !== true && items.default !== undefined
      return fillValue(isReplaced ? items.default : item, items)
    })
  }
  if (!isRecord(value)) return value
  const result = {}
  for (const [name, member] of Object.entries(value)) {
    const inner = memberOf(schema, name)
    if (member === null && inner !== undefined && inner.nullable !== true) {
      if (inner.default !== undefined) setKey(result, name, fillValue(inner.default, inner))
    } else setKey(result, name, fillValue(member, inner))
  }
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    if (inner.default !== undefined && !Object.hasOwn(value, name))
      setKey(result, name, fillValue(inner.default, inner))
  }
  return result
}

/** Whether a default would lose something when it is pruned. */
export function hasUnknownFields(value: unknown, schema: Schema, isRoot: boolean): boolean {
  let isFound = false
  pruneValue(value, schema, '', () => (isFound = true), isRoot || isEmbedded(schema))
  return isFound
}
