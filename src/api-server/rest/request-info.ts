import type { Int64 } from '../../model/generated/core-v1.ts'
import { badRequest } from '../api-error.ts'

/** What a request is about, as an authorizer wants to know it and the verbs need it. */
export interface RequestInfo {
  /** False for paths such as /version; then only path and verb say something. */
  readonly isResource: boolean
  /** get, list, watch, create, update, patch, delete, deletecollection; the method in lower case for other paths. */
  readonly verb: string
  readonly path: string
  readonly group: string
  readonly version: string
  /** Empty: of no namespace, or of all. */
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly query: URLSearchParams
  /** The query as it was written. */
  readonly rawQuery: string
  /** What follows the path of a proxy, as it was written; empty when nothing does. */
  readonly rest: string
}

const MAX_INT64 = 2n ** 63n - 1n
const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Method and target of a request to what it is about. Throws BadRequest for a target that no path can be read from. */
export function parseRequestInfo(method: string, target: string): RequestInfo {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const rawQuery = mark < 0 ? '' : target.slice(mark + 1)
  const query = new URLSearchParams(rawQuery)
  const other = { isResource: false, verb: method.toLowerCase(), path, query, rawQuery, ...NOTHING }
  const [, ownPath = path, rest = ''] = PROXY.exec(path) ?? []
  const segments = decodeSegments(ownPath)
  const root = segments[0]
  const length = root === 'api' ? 2 : 3
  if ((root !== 'api' && root !== 'apis') || segments.length <= length || segments.includes('')) return other
  const [group = '', version = ''] = root === 'api' ? ['', segments[1]] : [segments[1], segments[2]]
  const place = toPlace(segments.slice(length))
  if (place === undefined) return other
  const verb = verbOf(method, place.name, query)
  return { ...place, isResource: true, group, version, path, query, rawQuery, rest, verb }
}

const NOTHING = { group: '', version: '', namespace: '', resource: '', subresource: '', name: '', rest: '' }

// Behind these anything may follow.
const PROXY = /^(\/api\/v1\/(?:namespaces\/[^/]+\/pods|nodes)\/[^/]+\/proxy)(\/.*)?$/

function decodeSegments(path: string): readonly string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch (error) {
    throw badRequest('the path of the request is not correctly encoded', { cause: error })
  }
}

type Place = Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource'>

// What can follow the name of a namespace without being a resource in it.
const NAMESPACE_SUBRESOURCES = ['status', 'finalize']

function toPlace(segments: readonly string[]): Place | undefined {
  const isInside =
    segments[0] === 'namespaces' && segments.length > 2 && !NAMESPACE_SUBRESOURCES.includes(segments[2] ?? '')
  const [namespace = '', rest] = isInside ? [segments[1], segments.slice(2)] : ['', segments]
  const [resource = '', name = '', subresource = '', ...more] = rest
  return more.length > 0 ? undefined : { namespace, resource, name, subresource }
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  if (name !== '') return VERBS[method] ?? method.toLowerCase()
  if (method === 'GET' || method === 'HEAD') return isTrue(query.get('watch')) ? 'watch' : 'list'
  return method === 'DELETE' ? 'deletecollection' : (VERBS[method] ?? method.toLowerCase())
}

/** A flag of a query; present without a value counts as set. */
export function isTrue(value: string | null): boolean {
  return value !== null && !['false', '0', 'f', 'F', 'False', 'FALSE'].includes(value)
}

/** A whole number of a query, not negative; undefined when it is absent. */
export function readInt64(query: URLSearchParams, name: string): Int64 | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = /^\d{1,19}$/.test(text) ? BigInt(text) : MAX_INT64 + 1n
  if (value > MAX_INT64)
    throw badRequest(
      `invalid value for "${name}": ${JSON.stringify(text.slice(0, 50))}: expected a whole number of 64 bits`,
    )
  return value > Number.MAX_SAFE_INTEGER ? value : Number(value)
}

/** The same where a larger number than any that can be met need not be exact. */
export function readNumber(query: URLSearchParams, name: string): number | undefined {
  const value = readInt64(query, name)
  return value === undefined ? undefined : Number(value)
}
