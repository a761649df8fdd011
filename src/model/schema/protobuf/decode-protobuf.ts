import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'
import { setKey } from '../../../base/document/position-index.ts'
import { apiTypes } from '../api-types.ts'
import type { SchemaField, ScalarName, ValueType } from '../object-type.ts'
import { ProtobufError, readMessage, readVarints } from './protobuf-reader.ts'
import type { WireValue } from './protobuf-reader.ts'
import { wireFieldsOf } from './wire-format.ts'

// What stands before every object of the API in Protocol Buffers.
const MAGIC = [0x6b, 0x38, 0x73, 0x00]
const MAX_DEPTH = 100

/** An object of the API in its envelope: what it says it is, and its bytes. */
export interface ProtobufEnvelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
}

/** Reads the envelope of an object; throws ProtobufError for what is none. */
export function parseEnvelope(bytes: Uint8Array): ProtobufEnvelope {
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) throw new ProtobufError('expected an object of the API')
  const fields = new Map(readMessage(bytes.subarray(MAGIC.length)))
  const type = new Map(readMessage(bytesOf(fields.get(1))))
  return { apiVersion: textOf(type.get(1)), kind: textOf(type.get(2)), raw: bytesOf(fields.get(2)) }
}

/** The bytes of a message to the value that its JSON would have. Fields that the type does not have are left out. */
export function decodeProtobuf(bytes: Uint8Array, typeName: string): DocumentObject {
  const result = {}
  decodeInto(result, bytes, { wireType: typeName, fields: apiTypes.fieldsOf(typeName), depth: 0 })
  return result
}

interface Place {
  readonly wireType: string
  readonly fields: ReadonlyMap<string, SchemaField>
  readonly depth: number
}

function decodeInto(result: object, bytes: Uint8Array, place: Place): void {
  if (place.depth > MAX_DEPTH) throw new ProtobufError('nested too deeply')
  const wireFields = wireFieldsOf(place.wireType)
  for (const [number, value] of readMessage(bytes)) {
    const wire = wireFields.get(number)
    if (wire?.kind === 'inline') {
      decodeInto(result, bytesOf(value), { ...place, wireType: wire.typeName, depth: place.depth + 1 })
      continue
    }
    const field = wire && place.fields.get(wire.name)
    if (wire !== undefined && field !== undefined) addField(result, wire.name, field.type, value, place.depth + 1)
  }
}

function addField(result: object, name: string, type: ValueType, value: WireValue, depth: number): void {
  const before = (result as Record<string, DocumentValue>)[name]
  if (type.kind === 'list') {
    // Numbers may come several at once.
    const items = isPacked(type.of, value) ? readVarints(bytesOf(value)) : [value]
    const list = (before ?? []) as DocumentValue[]
    for (const item of items) list.push(decodeValue(item, type.of, depth) ?? null)
    setKey(result, name, list)
  } else if (type.kind === 'map') {
    const entry = new Map(readMessage(bytesOf(value)))
    const map = (before ?? {}) as object
    const item = entry.get(2) ?? new Uint8Array()
    setKey(map, textOf(entry.get(1)), decodeMapValue(item, type.of, depth) ?? null)
    setKey(result, name, map)
  } else {
    const decoded = decodeValue(value, type, depth)
    if (decoded !== undefined) setKey(result, name, decoded)
  }
}

/** A list in a map stands in a message of its own. */
function decodeMapValue(value: WireValue, type: ValueType, depth: number): DocumentValue | undefined {
  if (type.kind !== 'list') return decodeValue(value, type, depth)
  return readMessage(bytesOf(value)).map(([, item]) => decodeValue(item, type.of, depth) ?? null)
}

/** Undefined for what means that nothing was set. */
function decodeValue(value: WireValue, type: ValueType, depth: number): DocumentValue | undefined {
  if (type.kind === 'object') {
    const result = {}
    decodeInto(result, bytesOf(value), { wireType: type.name, fields: apiTypes.fieldsOf(type.name), depth })
    return result
  }
  return type.kind === 'scalar' ? scalars[type.name](value) : undefined
}

const scalars: Readonly<Record<ScalarName, (value: WireValue) => DocumentValue | undefined>> = {
  string: textOf,
  boolean: (value) => numberOf(value) !== 0,
  int32: numberOf,
  int64: numberOf,
  number: (value) => new DataView(Uint8Array.from(bytesOf(value)).buffer).getFloat64(0, true),
  bytes: (value) => Buffer.from(bytesOf(value)).toString('base64'),
  Quantity: (value) => textOf(new Map(readMessage(bytesOf(value))).get(1)),
  Time: decodeTime,
  IntOrString: (value) => {
    const fields = new Map(readMessage(bytesOf(value)))
    return numberOf(fields.get(1) ?? 0n) === 0 ? numberOf(fields.get(2) ?? 0n) : textOf(fields.get(3))
  },
  // Only fields that the server writes itself are of any type.
  any: () => undefined,
}

/** Seconds and nanoseconds; both zero mean no time at all. */
function decodeTime(value: WireValue): string | undefined {
  const fields = new Map(readMessage(bytesOf(value)))
  const [seconds, nanos] = [numberOf(fields.get(1) ?? 0n), numberOf(fields.get(2) ?? 0n)]
  if (seconds === 0 && nanos === 0) return undefined
  const date = new Date(Number(seconds) * 1000)
  if (Number.isNaN(date.getTime())) throw new ProtobufError('a time is out of range')
  const micros = Math.floor(Number(nanos) / 1000)
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`
  return `${date.toISOString().slice(0, 19)}${fraction}Z`
}

function isPacked(type: ValueType, value: WireValue): boolean {
  return type.kind === 'scalar' && ['int32', 'int64', 'boolean'].includes(type.name) && typeof value !== 'bigint'
}

function bytesOf(value: WireValue | undefined): Uint8Array {
  if (value === undefined) return new Uint8Array()
  if (typeof value === 'bigint') throw new ProtobufError('a number stands where a text or message was expected')
  return value
}

function textOf(value: WireValue | undefined): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(value))
  } catch (error) {
    if (error instanceof ProtobufError) throw error
    throw new ProtobufError('a text is not UTF-8')
  }
}

/** Exactly: beyond 2^53 it stays a bigint. */
function numberOf(value: WireValue): number | bigint {
  if (typeof value !== 'bigint') throw new ProtobufError('a number was expected')
  const signed = BigInt.asIntN(64, value)
  const number = Number(signed)
  return Number.isSafeInteger(number) ? number : signed
}
