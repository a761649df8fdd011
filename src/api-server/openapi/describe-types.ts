import { apiTypes } from '../../model/schema/api-types.ts'
import type { SchemaField, ScalarName, ValueType } from '../../model/schema/object-type.ts'
import type { Resource } from '../kinds/resource.ts'
import { descriptionOf } from './descriptions/descriptions.ts'

export type SchemaJson = Readonly<Record<string, unknown>>

/** What differs between the versions of OpenAPI. */
export interface Dialect {
  readonly scalars: Readonly<Record<ScalarName, SchemaJson>>
  readonly reference: (typeName: string) => SchemaJson
}

/** The scalars that all versions of OpenAPI write alike. */
export const COMMON_SCALARS = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number', format: 'double' },
  Time: { type: 'string', format: 'date-time' },
  bytes: { type: 'string', format: 'byte' },
  any: { type: 'object' },
} as const

/** The schemas of resources and of all types that they reach, by name. */
export function describeTypes(resources: readonly Resource[], dialect: Dialect): Readonly<Record<string, SchemaJson>> {
  const schemas = new Map<string, SchemaJson>()
  for (const resource of resources) {
    const { typeName, group, version, kind } = resource
    if (resource.schema !== undefined) {
      addType(schemas, dialect, 'ObjectMeta')
      schemas.set(typeName, describeCustom(resource, dialect.reference('ObjectMeta')))
      continue
    }
    addType(schemas, dialect, typeName)
    const schema = schemas.get(typeName)
    schemas.set(typeName, { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] })
  }
  return Object.fromEntries(schemas)
}

function addType(schemas: Map<string, SchemaJson>, dialect: Dialect, typeName: string): void {
  if (schemas.has(typeName)) return
  // A type may reach itself.
  schemas.set(typeName, {})
  const fields = [...apiTypes.fieldsOf(typeName)]
  const required = fields.filter(([, field]) => field.isRequired).map(([name]) => name)
  const description = descriptionOf(typeName, '')
  const properties = fields.map(([name, field]) => {
    const text = descriptionOf(typeName, name)
    return [name, { ...(text && { description: text }), ...describeField(schemas, dialect, field) }]
  })
  schemas.set(typeName, {
    ...(description && { description }),
    type: 'object',
    properties: Object.fromEntries(properties) as SchemaJson,
    ...(required.length > 0 && { required }),
    ...(apiTypes.isAtomic(typeName) && { 'x-kubernetes-map-type': 'atomic' }),
  })
}

function describeField(schemas: Map<string, SchemaJson>, dialect: Dialect, field: SchemaField): SchemaJson {
  const { type, patch } = field
  const strategy = [
    ...(patch === undefined || type.kind !== 'list' ? [] : ['merge']),
    ...(patch?.retainsKeys === true ? ['retainKeys'] : []),
  ]
  return {
    ...describeType(schemas, dialect, type),
    ...(field.default !== undefined && { default: field.default }),
    ...describeOwnership(field),
    ...(patch?.mergeKey !== undefined && { 'x-kubernetes-patch-merge-key': patch.mergeKey }),
    ...(strategy.length > 0 && { 'x-kubernetes-patch-strategy': strategy.join(',') }),
  }
}

/** Which parts of a value have owners of their own, for tools that merge as the server does. */
function describeOwnership({ type, ownership }: SchemaField): SchemaJson {
  if (type.kind === 'list') {
    if (type.keys.length > 0) return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': type.keys }
    return { 'x-kubernetes-list-type': ownership.isSet ? 'set' : 'atomic' }
  }
  if (ownership.isAtomic === undefined || type.kind === 'scalar') return {}
  return { 'x-kubernetes-map-type': ownership.isAtomic ? 'atomic' : 'granular' }
}

function describeType(schemas: Map<string, SchemaJson>, dialect: Dialect, type: ValueType): SchemaJson {
  switch (type.kind) {
    case 'scalar':
      return dialect.scalars[type.name]
    case 'list':
      return { type: 'array', items: describeType(schemas, dialect, type.of) }
    case 'map':
      return { type: 'object', additionalProperties: describeType(schemas, dialect, type.of) }
    case 'object':
      addType(schemas, dialect, type.name)
      return dialect.reference(type.name)
  }
}

/** The schema of a custom resource as its definition has it, with what every object has. */
function describeCustom({ schema = {}, group, version, kind }: Resource, meta: SchemaJson): SchemaJson {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string', description: 'The group and version of the API that the object is written in.' },
      kind: { type: 'string', description: 'The kind of the object.' },
      metadata: meta,
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  }
}
