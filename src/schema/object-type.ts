import { podSchema } from './generated/pod-schema.ts'

/** How one value is written: a scalar, an API type, or a list or map of one. */
export type ValueType =
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'object'; readonly name: string }
  | { readonly kind: 'list'; readonly of: ValueType; readonly keys: readonly string[] }
  | { readonly kind: 'map'; readonly of: ValueType }

export type ScalarName =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'Quantity'
  | 'Time'
  | 'IntOrString'
  | 'bytes'
  | 'number'
  | 'any'

/** One field of an API type. */
export interface Field {
  readonly type: ValueType
  readonly isRequired: boolean
  readonly default: unknown
}

const SCALAR_NAMES = new Set<string>([
  'string',
  'boolean',
  'int32',
  'int64',
  'Quantity',
  'Time',
  'IntOrString',
  'bytes',
  'number',
  'any',
])
const FIELD = /^([^!:]+)(!?):([^=#]+)(?:=([^#]+))?(?:#(.+))?$/
const read = new Map<string, ReadonlyMap<string, Field>>()

/** The fields of an API type by name; read from the table when first asked for, since a pod uses a few types of many. */
export function fieldsOf(typeName: string): ReadonlyMap<string, Field> {
  let fields = read.get(typeName)
  if (fields === undefined) {
    fields = new Map((podSchema[typeName] ?? '').split(' ').filter(Boolean).map(readField))
    read.set(typeName, fields)
  }
  return fields
}

function readField(text: string): [string, Field] {
  const [, name = '', required, type = 'any', defaultText, keys = ''] = FIELD.exec(text) ?? []
  const field: Field = {
    type: readType(type, keys === '' ? [] : keys.split(',')),
    isRequired: required === '!',
    default: defaultText === undefined ? undefined : JSON.parse(defaultText),
  }
  return [name, field]
}

function readType(text: string, keys: readonly string[]): ValueType {
  if (text.startsWith('[')) return { kind: 'list', of: readType(text.slice(1, -1), []), keys }
  if (text.startsWith('{')) return { kind: 'map', of: readType(text.slice(1, -1), []) }
  return SCALAR_NAMES.has(text) ? { kind: 'scalar', name: text as ScalarName } : { kind: 'object', name: text }
}
