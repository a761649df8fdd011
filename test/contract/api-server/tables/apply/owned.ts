import type { ContractStep } from '../../contract-case.ts'
import { get, patch, post, put } from '../../contract-case.ts'

type Json = Readonly<Record<string, unknown>>

/** What counts of an answer here: the object, and each of its owners as a line, without times. */
export function owned(body: unknown): unknown {
  const { metadata, ...object } = body as Json & {
    readonly metadata?: Json & { readonly managedFields?: readonly Json[] }
  }
  const { managedFields = [], ...others } = metadata ?? {}
  return { ...object, metadata: others, owners: managedFields.map(describe).toSorted() }
}

/** Only the owners. */
export function owners(body: unknown): unknown {
  return (owned(body) as { readonly owners: unknown }).owners
}

function describe({ manager, operation, apiVersion, subresource, fieldsV1 }: Json): string {
  const path = typeof subresource === 'string' ? `/${subresource}` : ''
  return `${String(manager)} ${String(operation)} ${String(apiVersion)}${path} ${JSON.stringify(sorted(fieldsV1))}`
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]))
}

type Options = Partial<ContractStep>

const at = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`

/** An apply by a manager. */
export const apply = (manager: string, path: string, body: unknown, options: Options = {}) =>
  patch('apply', at(path, `fieldManager=${manager}`), body, { shows: owned, ...options })

export const force = (manager: string, path: string, body: unknown, options: Options = {}) =>
  patch('apply', at(path, `fieldManager=${manager}&force=true`), body, { shows: owned, ...options })

export const make = (manager: string, path: string, body: unknown, options: Options = {}) =>
  post(at(path, `fieldManager=${manager}`), body, { shows: owned, ...options })

export const replace = (manager: string, path: string, body: unknown, options: Options = {}) =>
  put(at(path, `fieldManager=${manager}`), body, { shows: owned, ...options })

export const change = (
  manager: string,
  kind: 'json' | 'merge' | 'strategic',
  path: string,
  body: unknown,
  options: Options = {},
) => patch(kind, at(path, `fieldManager=${manager}`), body, { shows: owned, ...options })

export const read = (path: string, options: Options = {}) => get(path, { shows: owned, ...options })
