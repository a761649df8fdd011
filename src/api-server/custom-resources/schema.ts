import { isRecord } from '../../base/document/is-record.ts'
import type { JSONSchemaProps } from '../../model/generated/api-groups.ts'

/** Keywords with a list of schemas. */
export const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const

/** The schema of a value of a custom resource. */
export type Schema = JSONSchemaProps

/** The schema of the items of a list. */
export function itemsOf({ items }: Schema): Schema | undefined {
  return isRecord(items) ? items : undefined
}

/** The schema of the values of a map; true when they may be anything. */
export function valuesOf({ additionalProperties }: Schema): Schema | boolean | undefined {
  if (typeof additionalProperties === 'boolean') return additionalProperties
  return isRecord(additionalProperties) ? additionalProperties : undefined
}

export function propertyOf({ properties }: Schema, name: string): Schema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The schema of a member of an object: a field, or a value of a map. */
export function memberOf(schema: Schema, name: string): Schema | undefined {
  const values = valuesOf(schema)
  return propertyOf(schema, name) ?? (typeof values === 'object' ? values : undefined)
}

export const keepsUnknown = (schema: Schema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true
export const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true
export const isIntOrString = (schema: Schema): boolean => schema['x-kubernetes-int-or-string'] === true

/** What every object has, whatever its schema says. */
export const OBJECT_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata']
