import type { RequestUser } from '../kinds/resource.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** A request to the API, whatever brought it here. */
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
  return { status, body, headers: warnings.length === 0 ? headers : { ...headers, warning: warnings.map(toWarning) } }
}

/** As RFC 7234 has it; 299 is a warning that stays. */
export function toWarning(text: string): string {
  // Headers take printable ASCII only, and a few kilobytes of it.
  const safe = text.replaceAll(/[^ -~]/g, '?').slice(0, 256)
  return `299 - ${JSON.stringify(safe)}`
}
