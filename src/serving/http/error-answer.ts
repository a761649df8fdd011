import type { ServerResponse } from 'node:http'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { UpgradeAnswer } from '../../protocols/streams/upgrade/answer-upgrade.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

const BUSY_SECONDS = '60'
const RUNTIME_STATUS: { readonly [Code in CriCallError['code']]?: number } = { NotFound: 404, ResourceExhausted: 429 }

/** The answer to a request that failed. */
export function toErrorAnswer(error: unknown): UpgradeAnswer {
  const body = errorMessage(error)
  if (error instanceof HttpError) return { status: error.status, body }
  if (!(error instanceof CriCallError)) return { status: 500, body }
  const status = RUNTIME_STATUS[error.code] ?? 500
  return { status, body, headers: status === 429 ? { 'Retry-After': BUSY_SECONDS } : {} }
}

/** Sends it as text if nothing was sent yet; otherwise ends the connection. */
export function sendErrorAnswer(response: ServerResponse, { status, headers = {}, body }: UpgradeAnswer): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** An answer that is not the one the client hoped for: its status, and the text that says why. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
