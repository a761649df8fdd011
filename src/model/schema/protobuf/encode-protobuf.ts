import type { ObjectTypes, ScalarName, ValueType } from '../object-type.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import { wireFieldsOf } from './wire-format.ts'
import { formatExactJson } from '../../../base/document/exact-json.ts'

/** A value as JSON has it; typed objects of the API are such values too. */
type JsonObject = Readonly<Record<string, unknown>>

/** An object of the API to the bytes of its message, without an envelope. What is not set is not written. */
export function encodeProtobuf(value: object, typeName: string, types: ObjectTypes): Uint8Array {
  const writer = new ProtobufWriter()
  encodeFields(writer, value as JsonObject, { wireType: typeName, jsonType: typeName, types })
  return writer.finish()
}

interface Place {
  readonly wireType: string
  /** The type whose JSON has the fields: of an inlined type they stand in its parent's. */
  readonly jsonType: string
  readonly types: ObjectTypes
}

function encodeFields(writer: ProtobufWriter, object: JsonObject, place: Place): void {
  for (const [number, wire] of wireFieldsOf(place.wireType)) {
    if (wire.kind === 'inline') {
      const inner = { ...place, wireType: wire.typeName }
      writer.message(number, (message) => encodeFields(message, object, inner))
      continue
    }
    const field = place.types.fieldsOf(place.jsonType).get(wire.name)
    const value = object[wire.name]
    if (field !== undefined && value !== undefined && value !== null)
      encodeField(writer, number, value, field.type, place.types)
  }
}

function encodeField(
  writer: ProtobufWriter,
  number: number,
  value: unknown,
  type: ValueType,
  types: ObjectTypes,
): void {
  switch (type.kind) {
    case 'list':
      for (const item of value as readonly unknown[]) encodeField(writer, number, item, type.of, types)
      return
    case 'map':
      for (const [key, item] of Object.entries(value as JsonObject)) {
        writer.message(number, (entry) => {
          entry.text(1, key)
          encodeMapValue(entry, item, type.of, types)
        })
      }
      return
    case 'object':
      writer.message(number, (message) =>
        encodeFields(message, value as JsonObject, { wireType: type.name, jsonType: type.name, types }),
      )
      return
    case 'scalar':
      scalars[type.name](writer, number, value)
  }
}

/** A list in a map stands in a message of its own. */
function encodeMapValue(entry: ProtobufWriter, value: unknown, type: ValueType, types: ObjectTypes): void {
  if (type.kind === 'list') entry.message(2, (list) => encodeField(list, 1, value, type, types))
  else encodeField(entry, 2, value, type, types)
}

type WriteScalar = (writer: ProtobufWriter, number: number, value: unknown) => void

const writeNumber: WriteScalar = (writer, number, value) => writer.number(number, value as number | bigint)

const scalars: Readonly<Record<ScalarName, WriteScalar>> = {
  string: (writer, number, value) => writer.text(number, String(value)),
  boolean: (writer, number, value) => writer.number(number, value === true ? 1 : 0),
  int32: writeNumber,
  int64: writeNumber,
  // No field of a pod is one.
  number: () => {},
  bytes: (writer, number, value) => writer.bytes(number, Buffer.from(String(value), 'base64')),
  Quantity: (writer, number, value) => writer.message(number, (message) => message.text(1, String(value))),
  Time: (writer, number, value) => writer.message(number, (message) => encodeTime(message, String(value))),
  IntOrString: (writer, number, value) =>
    writer.message(number, (message) => {
      message.number(1, typeof value === 'string' ? 1 : 0)
      if (typeof value === 'string') message.text(3, value)
      else message.number(2, value as number)
    }),
  // Only managed fields are of any type: their message has the JSON as it is.
  any: (writer, number, value) => writer.message(number, (message) => message.text(1, formatExactJson(value))),
}

/** Seconds and nanoseconds. */
function encodeTime(message: ProtobufWriter, text: string): void {
  message.number(1, Math.floor(Date.parse(text) / 1000))
  const fraction = /\.(\d{1,9})/.exec(text)?.[1]
  if (fraction !== undefined) message.number(2, Number(fraction.padEnd(9, '0')))
}
