import type { FieldPath } from '../../model/schema/field-path.ts'
import type { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { itemsOf } from './schema.ts'
import type { Schema } from './schema.ts'

const SCALARS = ['boolean', 'integer', 'number', 'string']
const LIST_TYPES = ['atomic', 'map', 'set']
const MAP_TYPES = ['atomic', 'granular']

/** Who may own parts of a map. */
export function validateMapType(schema: Schema, path: FieldPath, problems: ProblemList): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  if (schema.type !== 'object') {
    if (!schema.type) problems.required(path.child('type'), 'must be object if x-kubernetes-map-type is specified')
    else problems.invalid(path.child('type'), schema.type, 'must be object if x-kubernetes-map-type is specified')
  }
  if (!MAP_TYPES.includes(mapType)) problems.unsupported(path.child('x-kubernetes-map-type'), mapType, MAP_TYPES)
}

/** How items of a list are identified: all as one value, by their keys, or each by itself. */
export function validateListType(schema: Schema, path: FieldPath, problems: ProblemList): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const items = itemsOf(schema)
  if (listType !== undefined) {
    if (schema.type !== 'array') {
      const why = 'must be array if x-kubernetes-list-type is specified'
      if (!schema.type) problems.required(path.child('type'), why)
      else problems.invalid(path.child('type'), schema.type, why)
    }
    if (!LIST_TYPES.includes(listType)) problems.unsupported(path.child('x-kubernetes-list-type'), listType, LIST_TYPES)
  }
  if (keys.length > 0 && listType !== 'map') {
    const at = path.child('x-kubernetes-list-type')
    if (listType === undefined) problems.required(at, 'must be map if x-kubernetes-list-map-keys is non-empty')
    else problems.invalid(at, listType, 'must be map if x-kubernetes-list-map-keys is non-empty')
  }
  if (listType === 'set' && items !== undefined) validateSetItems(items, path.child('items'), problems)
  if (listType === 'map') validateKeys(items, keys, path, problems)
}

function validateSetItems(items: Schema, path: FieldPath, problems: ProblemList): void {
  if (items.nullable === true)
    problems.forbidden(path.child('nullable'), 'cannot be nullable when x-kubernetes-list-type is set')
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    problems.invalid(
      path.child('x-kubernetes-map-type'),
      items['x-kubernetes-map-type'] ?? '',
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    )
  }
  if (items.type === 'array' && !['atomic', undefined].includes(items['x-kubernetes-list-type'])) {
    problems.invalid(
      path.child('x-kubernetes-list-type'),
      items['x-kubernetes-list-type'],
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    )
  }
}

function validateKeys(
  items: Schema | undefined,
  keys: readonly string[],
  path: FieldPath,
  problems: ProblemList,
): void {
  const at = path.child('x-kubernetes-list-map-keys')
  if (keys.length === 0) problems.required(at, 'must not be empty if x-kubernetes-list-type is map')
  if (items === undefined)
    return problems.required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map')
  if (items.type !== 'object')
    problems.invalid(
      path.child('items').child('type'),
      items.type ?? '',
      "must be object if parent array's x-kubernetes-list-type is map",
    )
  if (items.nullable === true)
    problems.forbidden(path.child('items').child('nullable'), 'cannot be nullable when x-kubernetes-list-type is map')
  const seen = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) problems.invalid(at, keys, 'must not contain duplicate entries')
    seen.add(key)
    const property = items.properties?.[key]
    const field = path.child('items').child('properties').key(key)
    if (property === undefined) {
      if (items.type === 'object') problems.invalid(at, keys, 'entries must all be names of item properties')
      continue
    }
    if (!SCALARS.includes(property.type ?? '')) {
      problems.invalid(
        field.child('type'),
        property.type ?? '',
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      )
    }
    if (property.nullable === true)
      problems.forbidden(field.child('nullable'), 'cannot be nullable as a key of the list')
    if (property.default === undefined && items.required?.includes(key) !== true) {
      problems.required(
        field.child('default'),
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      )
    }
  }
}
