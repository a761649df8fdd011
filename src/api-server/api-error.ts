import { FieldPath } from '../model/schema/field-path.ts'
import { ProblemList } from '../model/schema/validation/problem-list.ts'
import type { Violation } from '../model/schema/validation/problem-list.ts'

/** What one part of an error is about. */
export interface StatusCause {
  readonly reason: string
  readonly message?: string
  readonly field?: string
}

interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** An error, or a success, as the API words it. */
export interface ApiStatus {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly continue?: string }
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

interface ErrorContent {
  readonly code: number
  readonly reason: string
  readonly message: string
  readonly details?: StatusDetails
  readonly continueToken?: string
}

/** Which object an error is about. */
export interface NamedObject {
  readonly group: string
  /** The plural. */
  readonly resource: string
  readonly name: string
}

/** Ends a request with a metav1.Status. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: ApiStatus & { readonly code: number }

  constructor({ code, reason, message, details, continueToken }: ErrorContent, options?: ErrorOptions) {
    super(message, options)
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: 'Failure',
      message,
      reason,
      ...(details && { details }),
      code,
    }
  }
}

/** "pods" or "leases.coordination.k8s.io". */
function qualified({ group, resource }: NamedObject): string {
  return group === '' ? resource : `${resource}.${group}`
}

function detailsOf({ group, resource, name }: NamedObject): StatusDetails {
  return { ...(name !== '' && { name }), ...(group !== '' && { group }), kind: resource }
}

export function notFound(object: NamedObject): ApiError {
  const message = `${qualified(object)} "${object.name}" not found`
  return new ApiError({ code: 404, reason: 'NotFound', message, details: detailsOf(object) })
}

/** There is nothing at this path. */
export function pathNotFound(): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  })
}

export function alreadyExists(object: NamedObject): ApiError {
  const message = `${qualified(object)} "${object.name}" already exists`
  return new ApiError({ code: 409, reason: 'AlreadyExists', message, details: detailsOf(object) })
}

export function conflict(object: NamedObject, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(object)} "${object.name}": ${why}`
  return new ApiError({ code: 409, reason: 'Conflict', message, details: detailsOf(object) })
}

export function forbidden(object: NamedObject, why: string, causes?: readonly StatusCause[]): ApiError {
  // One that is being created has its name only in the body, which need not be read to refuse it.
  const subject = object.name === '' ? qualified(object) : `${qualified(object)} "${object.name}"`
  const message = `${subject} is forbidden: ${why}`
  const details = { ...detailsOf(object), ...(causes && { causes }) }
  return new ApiError({ code: 403, reason: 'Forbidden', message, details })
}

export function badRequest(message: string, options?: ErrorOptions): ApiError {
  return new ApiError({ code: 400, reason: 'BadRequest', message }, options)
}

export function methodNotAllowed(): ApiError {
  const message = 'the server does not allow this method on the requested resource'
  return new ApiError({ code: 405, reason: 'MethodNotAllowed', message, details: {} })
}

export function notAcceptable(): ApiError {
  const message = 'only the following media types are accepted: application/json'
  return new ApiError({ code: 406, reason: 'NotAcceptable', message })
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError({ code: 415, reason: 'UnsupportedMediaType', message })
}

export function tooLarge(maxBytes: number): ApiError {
  const message = `Request entity too large: limit is ${maxBytes}`
  return new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message })
}

/** What was asked for is beyond the history; a list continues from the token, if there is one. */
export function expired(message: string, continueToken?: string): ApiError {
  const token = continueToken === undefined ? {} : { continueToken }
  return new ApiError({ code: 410, reason: 'Expired', message, ...token })
}

/** A version that this server has not reached; the client should come again. */
export function versionTooLarge(asked: number, current: number): ApiError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  return new ApiError({ code: 504, reason: 'Timeout', message, details: { causes, retryAfterSeconds: 1 } })
}

/** What is applied does not fit the schema of its kind. Parity: a failure of the server, without a reason. */
export function typeFault(message: string): ApiError {
  return new ApiError({ code: 500, reason: '', message })
}

export function internalError(message: string, options?: ErrorOptions): ApiError {
  const causes = [{ reason: 'InternalError', message }]
  return new ApiError(
    { code: 500, reason: 'InternalError', message: `Internal error occurred: ${message}`, details: { causes } },
    options,
  )
}

// How the rules of validation begin, and what the API calls that.
const CAUSES: readonly (readonly [begin: string, reason: string])[] = [
  ['Required value', 'FieldValueRequired'],
  ['Invalid value', 'FieldValueInvalid'],
  ['Unsupported value', 'FieldValueNotSupported'],
  ['Duplicate value', 'FieldValueDuplicate'],
  ['Not found', 'FieldValueNotFound'],
  ['Forbidden', 'FieldValueForbidden'],
  ['Too long', 'FieldValueTooLong'],
  ['Too many', 'FieldValueTooMany'],
]

// An object that breaks more rules than this gets the others reported when these are fixed.
const MAX_CAUSES = 100

/** An option of a request that writes has a value that is none. */
export function unsupportedOption(name: string, value: string, supported: readonly string[]): ApiError {
  const problems = new ProblemList()
  problems.unsupported(FieldPath.root.child(name), value.slice(0, 50), supported)
  return invalid({ group: 'meta.k8s.io', kind: 'CreateOptions', name: '' }, problems.violations)
}

/** What comes of a patch is no object of its kind. */
export function invalidPatch(why: string, options?: ErrorOptions): ApiError {
  const message = `Invalid value: "": ${why}`
  const details = { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] }
  return new ApiError({ code: 422, reason: 'Invalid', message: ` "" is invalid: patch: ${message}`, details }, options)
}

/** An object breaks rules; all of them are reported. */
export function invalid(
  object: { readonly group: string; readonly kind: string; readonly name: string },
  violations: readonly Violation[],
): ApiError {
  const { group, kind, name } = object
  const causes = violations.slice(0, MAX_CAUSES).map(({ path, rule, reason }) => ({
    reason: reason ?? CAUSES.find(([begin]) => rule.startsWith(begin))?.[1] ?? 'FieldValueInvalid',
    message: rule,
    field: path.toString(),
  }))
  const texts = causes.map(({ field, message }) => `${field}: ${message}`)
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const message = `${group === '' ? kind : `${kind}.${group}`} "${name}" is invalid: ${list}`
  const about = { ...(name !== '' && { name }), ...(group !== '' && { group }), ...(kind !== '' && { kind }) }
  const details = { ...about, causes }
  return new ApiError({ code: 422, reason: 'Invalid', message, details })
}
