import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { builtinSchema } from './builtin-schema.ts'
import { anyValue, scalarOf } from './merge-schema.ts'
import type { ListSchema, MapSchema, MergeSchema } from './merge-schema.ts'

type SchemaJson = Readonly<Record<string, unknown>>

const SCALARS: Readonly<Record<string, MergeSchema>> = {
  string: scalarOf('string'),
  boolean: scalarOf('boolean'),
  integer: scalarOf('numeric'),
  number: scalarOf('numeric'),
}

/** The schema of a custom resource from the openAPIV3Schema of its definition; the fields of every object are as for all kinds. */
export function customResourceSchema(json: SchemaJson): MapSchema {
  return withObjectFields(mapSchema(json))
}

function withObjectFields({ isAtomic, fieldOf, rest }: MapSchema): MapSchema {
  const common: Readonly<Record<string, MergeSchema>> = {
    apiVersion: scalarOf('string'),
    kind: scalarOf('string'),
    metadata: builtinSchema('ObjectMeta'),
  }
  return {
    kind: 'map',
    isAtomic,
    fieldOf: (name) => (Object.hasOwn(common, name) ? common[name] : fieldOf(name)),
    rest,
  }
}

/** The schema of one value, from its structural schema with the marks x-kubernetes-*. */
export function structuralSchema(json: SchemaJson): MergeSchema {
  if (json['x-kubernetes-int-or-string'] === true) return scalarOf('untyped')
  if (json['x-kubernetes-embedded-resource'] === true) return withObjectFields(mapSchema(json))
  if (json['type'] === 'array') return listSchema(json)
  if (json['type'] === 'object' || isRecord(json['properties'])) return mapSchema(json)
  const scalar = typeof json['type'] === 'string' ? SCALARS[json['type']] : undefined
  return scalar ?? anyValue
}

function mapSchema(json: SchemaJson): MapSchema {
  const { properties, additionalProperties } = json
  const declared = isRecord(properties) ? properties : {}
  const read = new Map<string, MergeSchema>()
  return {
    kind: 'map',
    isAtomic: json['x-kubernetes-map-type'] === 'atomic',
    fieldOf: (name) => {
      const field = Object.hasOwn(declared, name) ? declared[name] : undefined
      return isRecord(field) ? read.getOrInsertComputed(name, () => structuralSchema(field)) : undefined
    },
    rest: restOf(json, additionalProperties, Object.keys(declared).length === 0),
  }
}

function restOf(json: SchemaJson, additional: unknown, isBare: boolean): MergeSchema | undefined {
  if (isRecord(additional)) return structuralSchema(additional)
  const isOpen = json['x-kubernetes-preserve-unknown-fields'] === true || additional === true || isBare
  return isOpen ? anyValue : undefined
}

function listSchema(json: SchemaJson): ListSchema {
  const { items } = json
  const of = isRecord(items) ? items : {}
  const type = json['x-kubernetes-list-type']
  const keys = Array.isArray(json['x-kubernetes-list-map-keys'])
    ? (json['x-kubernetes-list-map-keys'] as readonly string[])
    : []
  const properties = isRecord(of['properties']) ? of['properties'] : {}
  return {
    kind: 'list',
    relation: type === 'set' ? 'set' : type === 'map' && keys.length > 0 ? 'keyed' : 'atomic',
    keys,
    items: structuralSchema(of),
    defaultOf: (key) => {
      const field = Object.hasOwn(properties, key) ? properties[key] : undefined
      return isRecord(field) ? (field['default'] as DocumentValue | undefined) : undefined
    },
  }
}
