import type { ContractAnswer, ContractStep } from './contract-case.ts'
import type { WireAnswer } from './api-target.ts'

type Json = Readonly<Record<string, unknown>>

const HOUR_MS = 3_600_000
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TOKEN = /^eyJ[\w-]+\.([\w-]+)\.[\w-]+$/

/** What in texts differs from run to run, and what stands in its place. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [UID, 'UID'],
  [/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-SUFFIX'],
  // The names that the server makes up end so; the cases let them begin with "gen-".
  [/\bgen-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'gen-SUFFIX'],
  [/too old resource version: \d+ \(\d+\)/g, 'too old resource version: N (N)'],
  [/Too large resource version: \d+, current: \d+/g, 'Too large resource version: N, current: N'],
  // Since a time that a case names: another one each day.
  [/\b\d+y(?:\d+d)?\b/g, 'YEARS'],
  [/\b10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+\b/g, 'ADDRESS'],
]

/** An answer without what differs from run to run: uids, times, versions, chosen addresses, names and ports. */
export function normalizeAnswer({ status, headers, text }: WireAnswer, step: ContractStep): ContractAnswer {
  const body = step.verb === 'WATCH' && status === 200 ? parseEvents(text) : parse(text)
  const warnings = [headers['warning'] ?? []].flat().flatMap((each) => each.split(/, (?=299 )/))
  const type = headers['content-type']
  return {
    status,
    ...(type === undefined ? {} : { type }),
    ...(warnings.length > 0 && { warnings }),
    ...(headers['retry-after'] === undefined ? {} : { retryAfter: headers['retry-after'] }),
    body: select(body, step),
  }
}

function select(body: unknown, { shows = 'all' }: ContractStep): unknown {
  // Whatever of an answer counts: of an error all of it does.
  if (shows === 'all' || (shows !== 'code' && isStatus(body))) return normalize(body, '')
  if (shows === 'code') return normalize({ reason: (body as Json | undefined)?.['reason'] }, '')
  if (typeof shows === 'function') return normalize(shows(body), '')
  const parts = shows.map((path) => [path, find(body, path.split('.'))] as const)
  return Object.fromEntries(parts.map(([path, part]) => [path, normalize(part, path.split('.').at(-1) ?? '')]))
}

/** The part of a value at a path; "*" stands for every element of a list. */
export function find(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path
  if (first === undefined) return value
  if (first === '*') return Array.isArray(value) ? value.map((element) => find(element, rest)) : undefined
  return typeof value === 'object' && value !== null ? find((value as Json)[first], rest) : undefined
}

function isStatus(body: unknown): boolean {
  const { kind, status } = (body ?? {}) as { readonly kind?: unknown; readonly status?: unknown }
  return kind === 'Status' && status === 'Failure'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, keepExact) as unknown
  } catch {
    return text
  }
}

/** An integer that a number would round stays as it was written. */
function keepExact(_: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value
}

function parseEvents(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map(parse)
}

function normalize(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const elements = value.map((element) => normalize(element, key))
    // The conflicts of an apply come in any order.
    return key === 'causes' ? elements.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : elements
  }
  if (typeof value === 'string') return normalizeText(value, key)
  if (typeof value === 'number') return /nodePort$/i.test(key) ? 'PORT' : value
  if (typeof value !== 'object' || value === null) return value
  if (isRejection(value)) return normalizeRejection(value)
  const entries = Object.entries(value).filter(([name, each]) => !isUntold(name, each))
  const normalized = entries.map(([name, each]) => [name, normalize(each, name)] as const)
  return Object.fromEntries(normalized.filter(([name, each]) => !isUntold(name, each)))
}

/**
 * Whether a field says no more than its absence: Go writes many of them, whatever is in them. The items of a list, the cells of a table and a selector
 * of everything are no such fields.
 */
function isUntold(name: string, value: unknown): boolean {
  if (name === 'managedFields' || value === undefined || value === null) return true
  if (['items', 'cells', 'rows', 'emptyDir', 'podSelector', 'labelSelector'].includes(name)) return false
  if (name === 'Port') return value === 0
  return value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function normalizeText(text: string, key: string): unknown {
  if (text === '') return text
  if (key === 'resourceVersion') return 'VERSION'
  if (key === 'continue') return 'CONTINUE'
  if (TIME.test(text) && Math.abs(Date.parse(text) - Date.now()) < 24 * HOUR_MS) {
    return text.includes('.') ? 'TIME.MICROS' : 'TIME'
  }
  if (key === 'cells' && /^(\d+s|<unknown>s?|\d+m\d+s)$/.test(text)) return 'AGE'
  const token = TOKEN.exec(text)
  if (token !== null) return normalizeClaims(token[1] ?? '')
  return TEXTS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text)
}

function normalizeClaims(encoded: string): unknown {
  const claims = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')) as Record<string, unknown>
  const { iat, exp } = claims as { readonly iat: number; readonly exp: number }
  return { ...(normalize(claims, '') as Json), iat: 'SECONDS', nbf: 'SECONDS', exp: `iat + ${exp - iat}` }
}

interface Rejection {
  readonly kind: 'Status'
  readonly reason: 'Invalid' | 'BadRequest'
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason: string }[] }
}

function isRejection(value: object): value is Rejection {
  const { kind, reason } = value as { readonly kind?: unknown; readonly reason?: unknown }
  return kind === 'Status' && (reason === 'Invalid' || reason === 'BadRequest')
}

/**
 * Which rules a request breaks, and where; how that is worded is not what clients match on. What they do match on is the text about unknown and
 * repeated fields.
 */
function normalizeRejection({ message = '', details, ...status }: Rejection): unknown {
  const strict = /strict decoding error: .*/s.exec(message)?.[0]
  const { causes: all, ...about } = details ?? {}
  const causes = all?.map(({ field = '', reason }) => `${field}: ${reason}`)
  return {
    ...status,
    ...(strict === undefined ? {} : { message: strict }),
    ...(Object.keys(about).length > 0 && { details: about }),
    ...(causes === undefined ? {} : { causes: [...new Set(causes)].toSorted() }),
  }
}
