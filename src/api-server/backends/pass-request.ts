import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'
import { request as startRequest } from '../../base/builtin/http.ts'
import { internalError } from '../api-error.ts'
import type { ApiResponse } from '../rest/api-request.ts'
import type { Backend } from './backend.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** A request as it is passed on. */
interface PassedRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: AsyncIterable<Uint8Array> | undefined
}

/** Headers that concern only the connection to us, or authenticate the client to us. */
const OWN_HEADERS = [
  'authorization',
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** The headers to pass on, but for those of the connection. */
function toPassedHeaders(headers: PassedRequest['headers']): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !OWN_HEADERS.includes(name) && !name.startsWith('impersonate-'),
  )
  return Object.fromEntries(kept) as Record<string, string>
}

/** Sends a request to its backend; the answer streams back, until the signal aborts. Throws an ApiError when there is none. */
export async function passRequest(backend: Backend, request: PassedRequest, signal: AbortSignal): Promise<ApiResponse> {
  const socket = await backend.connect(signal)
  const leave = () => socket.destroy()
  signal.addEventListener('abort', leave, { once: true })
  const release = () => {
    signal.removeEventListener('abort', leave)
    socket.destroy()
  }
  try {
    const response = await send(
      startRequest({
        method: request.method,
        path: backend.path,
        headers: { ...toPassedHeaders(request.headers), host: backend.host },
        createConnection: () => socket,
      }),
      request,
    )
    return { status: response.statusCode ?? 502, headers: toAnswerHeaders(response), body: reading(response, release) }
  } catch (error) {
    release()
    throw internalError(`error talking to ${backend.host}: ${errorMessage(error)}`, { cause: error })
  }
}

async function send(outgoing: ClientRequest, { method, body }: PassedRequest): Promise<IncomingMessage> {
  // Errors after the answer began end its body.
  outgoing.on('error', () => {})
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  if (body === undefined || method === 'GET' || method === 'HEAD') outgoing.end()
  else pipeline(body, outgoing, () => {})
  const [response] = await answered
  return response
}

function toAnswerHeaders({ headers }: IncomingMessage): Record<string, string | readonly string[]> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !OWN_HEADERS.includes(name))
  return Object.fromEntries(kept) as Record<string, string | readonly string[]>
}

async function* reading(response: IncomingMessage, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>
  } finally {
    release()
  }
}
