import { ProtobufWriter } from '../../model/schema/protobuf/protobuf-writer.ts'
import type { DocumentV2, OperationV2, SchemaV2 } from './openapi-v2.ts'

/** How old clients ask for OpenAPI v2, and what it is called in the answer: the first is no media type that they could read. */
export const ASKED_V2_TYPE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
export const OPENAPI_V2_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

const METHODS: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 }

/** A document of OpenAPI v2 in Protocol Buffers; the numbers are those of its published messages. */
export function encodeOpenApiV2({ swagger, info, paths, definitions }: DocumentV2): Uint8Array {
  const items = Object.entries(paths).map(([path, operations]) => field(2, named(path, encodePath(operations))))
  return Buffer.concat([
    text(1, swagger),
    field(2, Buffer.concat([text(1, info.title), text(2, info.version)])),
    field(8, Buffer.concat(items)),
    field(9, encodeSchemas(definitions)),
  ])
}

function encodePath(operations: Readonly<Record<string, OperationV2>>): Uint8Array {
  return Buffer.concat(
    Object.entries(operations).map(([method, operation]) => field(METHODS[method] ?? 0, encodeOperation(operation))),
  )
}

function encodeOperation(operation: OperationV2): Uint8Array {
  const { parameters, responses } = operation
  return Buffer.concat([
    ...parameters.map(({ name, in: place, type }) => {
      const parameter = Buffer.concat([text(2, place), text(4, name), text(6, type)])
      // An item is a parameter, which is one without a body, which is one of a query.
      return field(8, field(1, field(2, field(3, parameter))))
    }),
    field(9, Buffer.concat(Object.entries(responses).map(([code, each]) => encodeResponse(code, each.description)))),
    ...extensions(13, operation),
  ])
}

function encodeResponse(code: string, description: string): Uint8Array {
  return field(1, named(code, field(1, text(1, description))))
}

function encodeSchemas(schemas: Readonly<Record<string, SchemaV2>>): Uint8Array {
  return Buffer.concat(Object.entries(schemas).map(([name, schema]) => field(1, named(name, encodeSchema(schema)))))
}

function encodeSchema(schema: SchemaV2): Uint8Array {
  const { $ref, format, description, required = [], additionalProperties, type, items, properties } = schema
  return Buffer.concat([
    text(1, $ref),
    text(2, format),
    text(4, description),
    ...(schema.default === undefined ? [] : [field(5, encodeAny(schema.default))]),
    ...required.map((name) => text(19, name)),
    ...(additionalProperties ? [field(21, field(1, encodeSchema(additionalProperties)))] : []),
    ...(type === undefined ? [] : [field(22, text(1, type))]),
    ...(items ? [field(23, field(1, encodeSchema(items)))] : []),
    ...(properties ? [field(25, encodeSchemas(properties))] : []),
    ...extensions(31, schema),
  ])
}

function extensions(number: number, value: object): readonly Uint8Array[] {
  return Object.entries(value)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, content]) => field(number, named(name, encodeAny(content))))
}

/** Any value as YAML, which JSON is. */
function encodeAny(value: unknown): Uint8Array {
  return text(2, `${JSON.stringify(value)}\n`)
}

function named(name: string, value: Uint8Array): Uint8Array {
  return Buffer.concat([text(1, name), field(2, value)])
}

function text(number: number, value: string | undefined): Uint8Array {
  return value === undefined || value === '' ? Buffer.alloc(0) : field(number, Buffer.from(value))
}

function field(number: number, value: Uint8Array): Uint8Array {
  const writer = new ProtobufWriter()
  writer.bytes(number, value)
  return writer.finish()
}
