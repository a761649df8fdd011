import { decodeScalar, zeroScalar } from './decode-scalar.ts'
import { FieldPath } from './field-path.ts'
import type { DocumentValue } from '../../base/document/document-value.ts'
import { podTypes } from './object-type.ts'
import type { SchemaField, ObjectTypes, ValueType } from './object-type.ts'
import { setKey } from '../../base/document/position-index.ts'
import { nearestName } from '../../base/document/nearest-name.ts'
import { isRecord } from '../../base/document/is-record.ts'

const MAX_HINTS = 100

/** A remark of the decoder about one place. */
interface DecodeRemark {
  readonly path: FieldPath
  readonly rule: string
  readonly value?: unknown
  /** The field is one that the type does not have. */
  readonly isUnknown?: true
}

/** Decoded object with what was wrong (errors) and what was left out or doubled (warnings). */
export interface DecodedObject {
  readonly value: Readonly<Record<string, unknown>>
  readonly errors: readonly DecodeRemark[]
  readonly warnings: readonly DecodeRemark[]
}

/**
 * Checks a value against an API type and copies what the type knows. As in the API server's decoder a wrong type is an error;
 * an unknown field is left out, but not in silence. Required fields that are absent get their zero value.
 */
export function decodeObject(
  value: DocumentValue,
  typeName: string,
  path = FieldPath.root,
  types: ObjectTypes = podTypes,
): DecodedObject {
  const decoder = new Decoder(types)
  const decoded = decoder.object(value, typeName, path) as Readonly<Record<string, unknown>>
  return { value: decoded, errors: decoder.errors, warnings: decoder.warnings }
}

class Decoder {
  readonly errors: DecodeRemark[] = []
  readonly warnings: DecodeRemark[] = []
  readonly #types: ObjectTypes

  constructor(types: ObjectTypes) {
    this.#types = types
  }

  object(value: DocumentValue, typeName: string, path: FieldPath): unknown {
    const fields = this.#types.fieldsOf(typeName)
    const result = {}
    if (!isRecord(value)) this.#expected(value, 'a map of fields', path)
    else {
      for (const [name, member] of Object.entries(value)) {
        const field = fields.get(name)
        if (field === undefined) this.#unknown(name, fields, path)
        else if (member !== null) setKey(result, name, this.#value(member, field.type, path.child(name)))
      }
    }
    this.#fillAbsent(result, fields)
    return result
  }

  #value(value: DocumentValue, type: ValueType, path: FieldPath): unknown {
    switch (type.kind) {
      case 'object':
        return this.object(value, type.name, path)
      case 'list':
        return this.#list(value, type, path)
      case 'map':
        return this.#map(value, type.of, path)
      case 'scalar': {
        const decoded = decodeScalar(value, type.name)
        if ('value' in decoded) return decoded.value
        this.#expected(value, decoded.expected, path)
        return zeroScalar(type.name)
      }
    }
  }

  #list(value: DocumentValue, type: ValueType & { kind: 'list' }, path: FieldPath): unknown {
    if (!Array.isArray(value)) {
      this.#expected(value, 'a list', path)
      return []
    }
    const seen = new Set<string>()
    return (value as readonly DocumentValue[]).map((item, index) => {
      const decoded = item === null ? this.#zeroOf(type.of) : this.#value(item, type.of, path.index(index))
      if (type.keys.length > 0)
        this.#noteDouble(decoded as Record<string, string | number>, type.keys, seen, path.index(index))
      return decoded
    })
  }

  #noteDouble(
    item: Readonly<Record<string, string | number>>,
    keys: readonly string[],
    seen: Set<string>,
    path: FieldPath,
  ): void {
    const key = keys.map((name) => item[name]).join('/')
    if (seen.has(key)) this.warnings.push({ path, rule: `Duplicate value: ${JSON.stringify(key)}`, value: key })
    seen.add(key)
  }

  #map(value: DocumentValue, of: ValueType, path: FieldPath): unknown {
    if (!isRecord(value)) {
      this.#expected(value, 'a map', path)
      return {}
    }
    const result = {}
    for (const [key, member] of Object.entries(value)) {
      setKey(result, key, member === null ? this.#zeroOf(of) : this.#value(member, of, path.key(key)))
    }
    return result
  }

  #unknown(name: string, fields: ReadonlyMap<string, SchemaField>, path: FieldPath): void {
    // Finding a likely name takes time, and hundreds of them help no reader.
    const nearest = this.warnings.length < MAX_HINTS ? nearestName(name, fields.keys()) : undefined
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`
    this.warnings.push({ path: path.child(name), rule: `unknown field, ignored${hint}`, isUnknown: true })
  }

  #expected(value: DocumentValue, expected: string, path: FieldPath): void {
    const shown = typeof value === 'bigint' ? String(value) : value
    this.errors.push({ path, rule: `Invalid value: ${describe(value)}: expected ${expected}`, value: shown })
  }

  #fillAbsent(result: object, fields: ReadonlyMap<string, SchemaField>): void {
    for (const [name, field] of fields) {
      if (Object.hasOwn(result, name)) {
        // An empty string is as good as absent to the API, whose fields have no other way to be unset.
        if (field.default === undefined || (result as Record<string, unknown>)[name] !== '') continue
      }
      if (field.default !== undefined) setKey(result, name, field.default)
      else if (field.isRequired) setKey(result, name, this.#zeroOf(field.type))
    }
  }

  #zeroOf(type: ValueType): unknown {
    if (type.kind === 'scalar') return zeroScalar(type.name)
    if (type.kind === 'list') return []
    const zero = {}
    if (type.kind === 'object') this.#fillAbsent(zero, this.#types.fieldsOf(type.name))
    return zero
  }
}

/** A value as a message shows it: short, and never the inside of a map or list. */
function describe(value: DocumentValue): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value)
}
