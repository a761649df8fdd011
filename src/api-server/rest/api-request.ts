import type { RequestUser } from '../kinds/resource.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** A request to the API, over any connection. */
export interface ApiRequest {
  readonly method: string
  /** Path and query as on the request line. */
  readonly target: string
  /** By lower case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly user: RequestUser
  /** Rejects with an ApiError when there are more than these many bytes. */
  readonly readBody: (maxBytes: number) => Promise<Uint8Array>
  /** The body as a stream, for requests that are passed on. */
  readonly body?: AsyncIterable<Uint8Array>
}

/** An answer: a whole body, or a stream that ends when the reader leaves or its time is over. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string | AsyncIterable<string | Uint8Array>
}

export const JSON_TYPE = 'application/json'

/** A value as the body of an answer. */
export function jsonResponse(status: number, value: unknown, warnings: readonly string[] = []): ApiResponse {
  return textResponse(status, formatExactJson(value), warnings)
}

/** JSON that is text already. */
export function textResponse(status: number, body: string, warnings: readonly string[] = []): ApiResponse {
  const headers = { 'content-type': JSON_TYPE, 'cache-control': 'no-cache, private' }
  return { status, body, headers: warnings.length === 0 ? headers : { ...headers, warning: toWarnings(warnings) } }
}

// Headers have a few kilobytes of room; where that is not enough, each gets a part of it.
const MOST_CHARACTERS = 4096
const SHORT_CHARACTERS = 256

/** As headers, each of them once. */
export function toWarnings(warnings: readonly string[]): readonly string[] {
  const distinct = [...new Set(warnings)]
  const length = distinct.reduce((sum, text) => sum + text.length, 0)
  if (length <= MOST_CHARACTERS) return distinct.map(toWarning)
  return distinct.slice(0, MOST_CHARACTERS / SHORT_CHARACTERS).map((text) => toWarning(text.slice(0, SHORT_CHARACTERS)))
}

/** As RFC 7234 has it; 299 is a warning that stays. */
function toWarning(text: string): string {
  // Headers take printable ASCII only.
  return `299 - ${JSON.stringify(text.replaceAll(/[^ -~]/g, '?'))}`
}
