import type { Status } from '../../model/generated/core-v1.ts'
import { parseExactJson } from '../../base/document/exact-json.ts'
import { KubeApiError } from './kube-client.ts'

/** Something between us and the API may answer in its place, with a page instead of a Status. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}
const LONGEST_TEXT = 500

export interface RefusedRequest {
  readonly what: string
  readonly code: number
  readonly text: string
  readonly retryAfter: string | undefined
}

/** The answer of a server that refused, as an error with the server's own words. */
export function toApiError({ what, code, text, retryAfter }: RefusedRequest): KubeApiError {
  const retryAfterSeconds = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined
  const status = readStatus(text)
  if (status !== undefined) return statusToError(status, { what, code, retryAfterSeconds })
  const said = text.trim().slice(0, LONGEST_TEXT)
  const message = `Cannot ${what}: the server answered with status ${code}${said === '' ? '' : `: ${said}`}`
  return new KubeApiError(message, { code, reason: REASONS[code] ?? '', retryAfterSeconds })
}

/** A metav1.Status as an error; the code of the answer counts when the Status has none. */
export function statusToError(
  status: Status,
  {
    what,
    code,
    retryAfterSeconds,
  }: { readonly what: string; readonly code: number; readonly retryAfterSeconds?: number | undefined },
): KubeApiError {
  const { message = `Cannot ${what}: the server refused without a reason` } = status
  return new KubeApiError(message, {
    code: status.code ?? code,
    reason: status.reason ?? '',
    retryAfterSeconds: retryAfterSeconds ?? status.details?.retryAfterSeconds,
  })
}

function readStatus(text: string): Status | undefined {
  try {
    const value = parseExactJson(text) as Status | null
    return typeof value === 'object' && value?.kind === 'Status' ? value : undefined
  } catch {
    return undefined
  }
}
