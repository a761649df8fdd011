import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** An answer that is there as a whole. */
export interface Answer {
  readonly status: number
  readonly body: string | Uint8Array
  /** text/plain when not said. */
  readonly type?: string
  readonly headers?: OutgoingHttpHeaders
}

/** Sends an answer. No browser is to guess what it is: what is in it was not always written by us. */
export function sendAnswer(response: ServerResponse, { status, body, type, headers }: Answer): void {
  response.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(body)
}

/** Sends a short text. */
export function sendText(response: ServerResponse, status: number, body: string): void {
  sendAnswer(response, { status, body })
}
