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
export interface SchemaField {
  readonly type: ValueType
  readonly isRequired: boolean
  readonly default: unknown
  /** How strategic merge patches treat the field; undefined: they replace it, unless it is an object or map. */
  readonly patch: PatchRule | undefined
  /** What an apply has to know of it besides its type. */
  readonly ownership: OwnershipRule
}

/** How the parts of a field are owned. */
interface OwnershipRule {
  /** Whether an object or map has one owner for all of it; undefined: as its type says. */
  readonly isAtomic: boolean | undefined
  /** Whether a list is a set of plain values. */
  readonly isSet: boolean
  /** Whether an object is written even when it is empty, since the API has no way to leave it out. */
  readonly isEmbedded: boolean
  /** Whether a scalar that is absent is zero. */
  readonly isZeroWhenAbsent: boolean
}

/** A list that patches merge: its items by a key, or its plain values as a set when there is no key. */
interface PatchRule {
  readonly mergeKey: string | undefined
  /** Whether a patch may name the only keys that stay, as it must where just one member of a union may be set. */
  readonly retainsKeys: boolean
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
const FIELD = /^([^!:]+)(!?):([^=#~%]+)(?:=([^#~%]+))?(?:#([^~%]+))?(?:~(\w*)(!?))?(?:%(\w+))?$/
// Stands before the fields of a type whose objects have one owner.
const ATOMIC = '%a '

/** A table of API types. A type is read when first asked for, since an object uses a few types of many. */
export class ObjectTypes {
  readonly #table: Readonly<Record<string, string>>
  readonly #read = new Map<string, ReadonlyMap<string, SchemaField>>()

  constructor(table: Readonly<Record<string, string>>) {
    this.#table = table
  }

  /** The fields of an API type by name. */
  fieldsOf(typeName: string): ReadonlyMap<string, SchemaField> {
    let fields = this.#read.get(typeName)
    if (fields === undefined) {
      const text = (this.#table[typeName] ?? '').slice(this.isAtomic(typeName) ? ATOMIC.length : 0)
      fields = new Map(text.split(' ').filter(Boolean).map(readField))
      this.#read.set(typeName, fields)
    }
    return fields
  }

  /** Whether the objects of a type have one owner for all of their fields. */
  isAtomic(typeName: string): boolean {
    return this.#table[typeName]?.startsWith(ATOMIC) === true
  }
}

/** The types that a pod needs. */
export const podTypes = new ObjectTypes(podSchema)

function readField(text: string): [string, SchemaField] {
  const [, name = '', required, type = 'any', defaultText, keys = '', mergeKey, retain, marks = ''] =
    FIELD.exec(text) ?? []
  const field: SchemaField = {
    type: readType(type, keys === '' ? [] : keys.split(',')),
    isRequired: required === '!',
    default: defaultText === undefined ? undefined : JSON.parse(defaultText),
    patch: mergeKey === undefined ? undefined : { mergeKey: mergeKey || undefined, retainsKeys: retain === '!' },
    ownership: {
      isAtomic: marks.includes('a') ? true : marks.includes('g') ? false : undefined,
      isSet: marks.includes('s'),
      isEmbedded: marks.includes('e'),
      isZeroWhenAbsent: required === '!' || marks.includes('z'),
    },
  }
  return [name, field]
}

function readType(text: string, keys: readonly string[]): ValueType {
  if (text.startsWith('[')) return { kind: 'list', of: readType(text.slice(1, -1), []), keys }
  if (text.startsWith('{')) return { kind: 'map', of: readType(text.slice(1, -1), []) }
  return SCALAR_NAMES.has(text) ? { kind: 'scalar', name: text as ScalarName } : { kind: 'object', name: text }
}
