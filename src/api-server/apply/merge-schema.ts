import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** What a merge has to know of a value: which parts of it have an owner of their own. Where the schema comes from is all the same. */
export type MergeSchema = ScalarSchema | MapSchema | ListSchema | AnySchema

export interface ScalarSchema {
  readonly kind: 'scalar'
  readonly of: 'string' | 'numeric' | 'boolean' | 'untyped'
}

/** An object with fields, a map, or both. */
export interface MapSchema {
  readonly kind: 'map'
  /** One owner for all of it. */
  readonly isAtomic: boolean
  /** The schema of a field that is declared by name. */
  readonly fieldOf: (name: string) => MergeSchema | undefined
  /** That of all other keys; undefined: there may be none. */
  readonly rest: MergeSchema | undefined
}

export interface ListSchema {
  readonly kind: 'list'
  /** One owner for all of it, plain values that each have their owners, or items that are known by their keys. */
  readonly relation: 'atomic' | 'set' | 'keyed'
  readonly keys: readonly string[]
  readonly items: MergeSchema
  /** What a key is that an item does not have; undefined: then it has none. */
  readonly defaultOf: (key: string) => DocumentValue | undefined
}

/** Without a schema: maps are owned by key, everything else as one value; or all of it as one value. */
export interface AnySchema {
  readonly kind: 'any'
  readonly isAtomic: boolean
}

export const anyValue: AnySchema = { kind: 'any', isAtomic: false }
export const wholeValue: AnySchema = { kind: 'any', isAtomic: true }

export function scalarOf(of: ScalarSchema['of']): ScalarSchema {
  return { kind: 'scalar', of }
}

const openMap: MapSchema = { kind: 'map', isAtomic: false, fieldOf: () => undefined, rest: anyValue }
const wholeMap: MapSchema = { ...openMap, isAtomic: true }
const wholeList: ListSchema = {
  kind: 'list',
  relation: 'atomic',
  keys: [],
  items: anyValue,
  defaultOf: () => undefined,
}
const untyped = scalarOf('untyped')

/** The schema to walk a value with: one that says nothing takes the shape of the value. */
export function resolveSchema(schema: MergeSchema, value: DocumentValue | undefined): Exclude<MergeSchema, AnySchema> {
  if (schema.kind !== 'any') return schema
  if (isRecord(value)) return schema.isAtomic ? wholeMap : openMap
  return Array.isArray(value) ? wholeList : untyped
}

/** The schema of one member of a map; undefined when it may not be there. */
export function memberSchema(schema: MapSchema, name: string): MergeSchema | undefined {
  return schema.fieldOf(name) ?? schema.rest
}
