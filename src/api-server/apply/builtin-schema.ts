import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { setKey } from '../../base/document/position-index.ts'
import { apiTypes } from '../../model/schema/api-types.ts'
import { zeroScalar } from '../../model/schema/decode-scalar.ts'
import { omittedWhenZero } from '../../model/schema/protobuf/wire-format.ts'
import type { SchemaField, ScalarName, ValueType } from '../../model/schema/object-type.ts'
import { scalarOf, wholeValue } from './merge-schema.ts'
import type { ListSchema, MapSchema, MergeSchema } from './merge-schema.ts'

const SCALARS: Readonly<Record<ScalarName, MergeSchema>> = {
  string: scalarOf('string'),
  Time: scalarOf('string'),
  bytes: scalarOf('string'),
  boolean: scalarOf('boolean'),
  int32: scalarOf('numeric'),
  int64: scalarOf('numeric'),
  number: scalarOf('numeric'),
  Quantity: scalarOf('untyped'),
  IntOrString: scalarOf('untyped'),
  any: wholeValue,
}

const known = new Map<string, MapSchema>()

/** The schema of a type of the API by its name, made when it is first needed. */
export function builtinSchema(typeName: string): MapSchema {
  return known.getOrInsertComputed(typeName, () => toMapSchema(typeName, apiTypes.isAtomic(typeName)))
}

function toMapSchema(typeName: string, isAtomic: boolean): MapSchema {
  const schemas = new Map<string, MergeSchema>()
  return {
    kind: 'map',
    isAtomic,
    fieldOf: (name) => {
      const field = apiTypes.fieldsOf(typeName).get(name)
      return field && schemas.getOrInsertComputed(name, () => schemaOfField(field))
    },
    rest: undefined,
  }
}

function schemaOfField({ type, ownership }: SchemaField): MergeSchema {
  const { isAtomic, isSet } = ownership
  switch (type.kind) {
    case 'object':
      return isAtomic === undefined ? builtinSchema(type.name) : toMapSchema(type.name, isAtomic)
    case 'map':
      return mapOf(schemaOfType(type.of), isAtomic === true)
    case 'list':
      return listOf(type, isSet)
    case 'scalar':
      return SCALARS[type.name]
  }
}

function schemaOfType(type: ValueType): MergeSchema {
  switch (type.kind) {
    case 'object':
      return builtinSchema(type.name)
    case 'map':
      return mapOf(schemaOfType(type.of), false)
    case 'list':
      return listOf(type, false)
    case 'scalar':
      return SCALARS[type.name]
  }
}

function mapOf(rest: MergeSchema, isAtomic: boolean): MapSchema {
  return { kind: 'map', isAtomic, fieldOf: () => undefined, rest }
}

function listOf(type: ValueType & { readonly kind: 'list' }, isSet: boolean): ListSchema {
  const { keys, of } = type
  return {
    kind: 'list',
    relation: isSet ? 'set' : keys.length > 0 ? 'keyed' : 'atomic',
    keys,
    items: schemaOfType(of),
    defaultOf: (key) => (of.kind === 'object' ? defaultOf(apiTypes.fieldsOf(of.name).get(key)) : undefined),
  }
}

function defaultOf(field: SchemaField | undefined): DocumentValue | undefined {
  if (field?.type.kind !== 'scalar') return undefined
  if (field.default !== undefined) return field.default as DocumentValue
  return field.ownership.isZeroWhenAbsent ? (zeroScalar(field.type.name) as DocumentValue) : undefined
}

/**
 * An object as the API server writes it: objects that cannot be left out are there, even when they are empty, and so are their required
 * fields. Only with them it shows whether a request added an object or a field of it.
 */
export function withEmbedded(object: DocumentObject, typeName: string): DocumentObject {
  const result: DocumentObject = {}
  for (const [name, value] of Object.entries(object)) if (value !== undefined) setKey(result, name, value)
  for (const [name, { type, ownership, isRequired }] of apiTypes.fieldsOf(typeName)) {
    const value = Object.hasOwn(result, name) ? result[name] : undefined
    if (ownership.isEmbedded && type.kind === 'object') {
      setKey(result, name, withEmbedded(isRecord(value) ? value : {}, type.name))
    } else if (value !== undefined) setKey(result, name, withEmbeddedIn(value, type))
    else if (isNullTime(typeName, name, type)) setKey(result, name, null)
    else if (isRequired) setKey(result, name, type.kind === 'scalar' ? zeroScalar(type.name) : null)
  }
  return result
}

/** Times that have no other way to be absent are null; but for the one when an object was made. */
function isNullTime(typeName: string, name: string, type: ValueType): boolean {
  if (type.kind !== 'scalar' || type.name !== 'Time' || name === 'creationTimestamp') return false
  return omittedWhenZero(typeName).has(name)
}

function withEmbeddedIn(value: DocumentValue, type: ValueType): DocumentValue {
  if (type.kind === 'object' && isRecord(value)) return withEmbedded(value, type.name)
  if (type.kind === 'list' && Array.isArray(value)) {
    return (value as readonly DocumentValue[]).map((item) => withEmbeddedIn(item, type.of))
  }
  if (type.kind === 'map' && isRecord(value) && type.of.kind !== 'scalar') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withEmbeddedIn(item, type.of)]))
  }
  return value
}
