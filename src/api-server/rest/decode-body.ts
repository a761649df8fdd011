import type { DocumentObject, DocumentValue, ParsedText, Segments } from '../../base/document/document-value.ts'
import { SyntaxProblem } from '../../base/document/document-value.ts'
import { parseJson } from '../../base/document/parse-json.ts'
import { parseYaml } from '../../base/document/parse-yaml.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { apiTypes } from '../../model/schema/api-types.ts'
import { decodeObject } from '../../model/schema/decode-object.ts'
import { decodeProtobuf, parseEnvelope } from '../../model/schema/protobuf/decode-protobuf.ts'
import { dropZeros } from '../../model/schema/drop-zeros.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProtobufError } from '../../model/schema/protobuf/protobuf-reader.ts'
import { badRequest, unsupportedMediaType, unsupportedOption } from '../api-error.ts'
import { pruneObject } from '../custom-resources/shape-value.ts'
import type { ExpectedType } from '../kinds/resource.ts'
import type { ObjectNamed } from '../kinds/stored-types.ts'
import type { ApiObject } from '../store/api-object.ts'
import type { ApiRequest } from './api-request.ts'

/** Larger requests are rejected. Parity: the API server's limit of a request. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024

// They travel in headers, whose size clients limit.
const MAX_WARNINGS = 20

export interface DecodedBody<T extends ApiObject = ApiObject> {
  readonly object: T
  /** Unknown and doubled fields, for clients that ask for them. */
  readonly warnings: readonly string[]
}

/** What a body says, before it is held against a type. */
export type Document = Pick<ParsedText, 'value' | 'duplicates'>

/** Reads a body as JSON, YAML or, for an object of a known type, Protocol Buffers. */
export async function readDocument(request: ApiRequest, type: ExpectedType): Promise<Document> {
  const bytes = await request.readBody(MAX_BODY_BYTES)
  switch (mediaTypeOf(request)) {
    case '':
    case 'application/json':
      return parseWith(parseJson, bytes)
    case 'application/yaml':
      return parseWith(parseYaml, bytes)
    case 'application/vnd.kubernetes.protobuf':
      if (type.schema === undefined && type.kind !== 'CustomResourceDefinition') return parseProtobuf(bytes, type)
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
      )
    default:
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      )
  }
}

/** Reads a body that is JSON whatever its type is called. */
export async function readJson(request: ApiRequest): Promise<Document> {
  return parseWith(parseJson, await request.readBody(MAX_BODY_BYTES))
}

function mediaTypeOf(request: ApiRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

function parseWith(parse: (text: string) => ParsedText, bytes: Uint8Array): Document {
  const text = decodeText(bytes)
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw badRequest(`the object provided is unrecognized: ${error.message} (at character ${error.offset})`, {
      cause: error,
    })
  }
}

/** The type comes from the path: the envelope of a message does not always name one that we know. */
function parseProtobuf(bytes: Uint8Array, type: ExpectedType): Document {
  try {
    const { apiVersion, kind, raw } = parseEnvelope(bytes)
    return { value: { ...decodeProtobuf(raw, type.typeName), apiVersion, kind }, duplicates: [] }
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    throw badRequest(`the object provided is unrecognized: ${error.message}`, { cause: error })
  }
}

export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw badRequest('the object provided is unrecognized: expected UTF-8', { cause: error })
  }
}

/**
 * A parsed body to an object of its type; throws BadRequest when it is of another, or has values of wrong types. This is the border:
 * what passes the schema has the type of that name, and nothing behind it checks that again.
 */
export function decodeBody<N extends string>(document: Document, type: ExpectedType<N>): DecodedBody<ObjectNamed<N>> {
  const { value } = document
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  if (!isRecord(value))
    throw badRequest(`the object provided is unrecognized: expected an object with apiVersion and kind`)
  checkType(value, apiVersion, type.kind)
  if (type.schema !== undefined) return decodeCustom(document, value, type, apiVersion) as DecodedBody<ObjectNamed<N>>
  const decoded = decodeObject(value, type.typeName, FieldPath.root, apiTypes)
  const [error] = decoded.errors
  if (error !== undefined) {
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${error.path.toString()}: ${error.rule}`,
    )
  }
  const unknown = decoded.warnings.filter(({ isUnknown }) => isUnknown === true)
  const fields = dropZeros(decoded.value, type.typeName)
  const metadata = { ...(fields['metadata'] as object | undefined), ...(forgetsOwners(value) && { managedFields: [] }) }
  const object: ApiObject = { ...fields, kind: type.kind, apiVersion, metadata }
  return {
    object: object as ObjectNamed<N>,
    warnings: [
      ...unknown.map(({ path }) => `unknown field "${formatSegments(path.segments)}"`),
      ...document.duplicates.map(({ segments }) => `duplicate field "${formatSegments(segments)}"`),
    ],
  }
}

/** An empty list of owners is not the same as none: it says that all of them are to be forgotten. */
function forgetsOwners({ metadata }: DocumentObject): boolean {
  const { managedFields } = isRecord(metadata) ? metadata : {}
  return Array.isArray(managedFields) && managedFields.length === 0
}

/** An object of a kind that a definition describes: its metadata as for all kinds, the rest without what the schema does not know. */
function decodeCustom(
  { duplicates }: Document,
  value: DocumentObject,
  { kind, version, schema = {} }: ExpectedType,
  apiVersion: string,
): DecodedBody {
  const decoded = decodeObject(value['metadata'] ?? {}, 'ObjectMeta', FieldPath.root.child('metadata'), apiTypes)
  const [error] = decoded.errors
  if (error !== undefined) {
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: ${error.path.toString()}: ${error.rule}`,
    )
  }
  const unknown: string[] = decoded.warnings
    .filter(({ isUnknown }) => isUnknown === true)
    .map(({ path }) => path.toString())
  if (!value['kind']) throw badRequest(`the object provided is unrecognized: expected the kind ${kind}`)
  const fields = pruneObject(value, schema, (path) => unknown.push(path))
  const metadata = {
    ...dropZeros(decoded.value, 'ObjectMeta'),
    ...(forgetsOwners(value) && { managedFields: [] }),
  }
  return {
    object: { ...fields, kind, apiVersion, metadata },
    warnings: [
      ...unknown.toSorted().map((path) => `unknown field "${path}"`),
      ...duplicates.map(({ segments }) => `duplicate field "${formatSegments(segments)}"`),
    ],
  }
}

/** How unknown fields are reported, as the query asks: not at all, as warnings, or as an error. */
export function applyFieldValidation(query: URLSearchParams, warnings: readonly string[]): readonly string[] {
  const mode = fieldValidationOf(query)
  const shown = warnings.slice(0, MAX_WARNINGS)
  if (mode === 'Strict' && shown.length > 0) throw badRequest(`strict decoding error: ${shown.join(', ')}`)
  return mode === 'Warn' ? shown : []
}

export function fieldValidationOf(query: URLSearchParams): string {
  const mode = query.get('fieldValidation') || 'Warn'
  if (!['Ignore', 'Warn', 'Strict'].includes(mode)) {
    throw unsupportedOption('fieldValidation', mode, ['Ignore', 'Strict', 'Warn'])
  }
  return mode
}

function checkType(value: DocumentObject, apiVersion: string, kind: string): void {
  const said = { apiVersion: value['apiVersion'] ?? '', kind: value['kind'] ?? '' }
  if (said.kind !== '' && said.kind !== kind) {
    throw badRequest(`the kind in the data (${shown(said.kind)}) does not match the expected kind (${kind})`)
  }
  if (said.apiVersion !== '' && said.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${shown(said.apiVersion)}) does not match the expected API version (${apiVersion})`,
    )
  }
}

function shown(value: DocumentValue): string {
  return typeof value === 'string' ? value.slice(0, 100) : typeof value
}

function formatSegments(segments: Segments): string {
  return segments
    .map((segment, index) => (typeof segment === 'number' ? `[${segment}]` : index === 0 ? segment : `.${segment}`))
    .join('')
}
