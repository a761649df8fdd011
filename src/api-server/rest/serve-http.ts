import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, Http2ServerResponse } from 'node:http2'
import type { Http2ServerRequest } from 'node:http2'
import type { Writable } from 'node:stream'
import { once } from 'node:events'
import { tooLarge } from '../api-error.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { ApiRequest, ApiResponse } from './api-request.ts'
import type { Api } from './create-api.ts'

export type ServedRequest = IncomingMessage | Http2ServerRequest
export type ServedResponse = ServerResponse | Http2ServerResponse

/** The user at the other end of a connection. */
export type AuthenticateRequest = (request: ServedRequest) => RequestUser

const SKIPPED_SIZES = 8

/** Answers one request; never rejects. */
export async function serveRequest(
  api: Api,
  authenticate: AuthenticateRequest,
  request: ServedRequest,
  response: ServedResponse,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('The reader has left')))
  response.on('error', () => {})
  try {
    const answer = await api.handle(toApiRequest(request, authenticate(request)), gone.signal)
    await writeAnswer(request, response, answer, gone.signal)
  } catch {
    // The reader has left, or a stream broke: an incomplete answer must not appear complete.
    if (response instanceof Http2ServerResponse) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else response.destroy()
  }
}

function toApiRequest(request: ServedRequest, user: RequestUser): ApiRequest {
  const { method = 'GET', url = '/' } = request
  const headers = joinHeaders(request)
  return { method, target: url, headers, user, readBody: (maxBytes) => readBody(request, maxBytes), body: request }
}

/** The headers of a request by lower case name; several of one name are joined. */
export function joinHeaders({ headers }: ServedRequest): ApiRequest['headers'] {
  const { ':authority': host, ...others } = headers
  const named = Object.entries(others).filter(([name]) => !name.startsWith(':'))
  return {
    ...(typeof host === 'string' && { host }),
    ...Object.fromEntries(named.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value])),
  }
}

async function readBody(request: ServedRequest, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  // A body that is somewhat too large is read to its end and dropped: most clients read the answer only then.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes * SKIPPED_SIZES) break
    if (length <= maxBytes) chunks.push(chunk)
  }
  if (length > maxBytes) throw tooLarge(maxBytes)
  return Buffer.concat(chunks)
}

async function writeAnswer(
  request: ServedRequest,
  response: ServedResponse,
  answer: ApiResponse,
  signal: AbortSignal,
): Promise<void> {
  const output: Writable = response
  const isHttp2 = response instanceof Http2ServerResponse
  // The rest of a rejected body is not read, so nothing can follow it on this connection.
  if (!isHttp2 && !request.complete && request.method !== 'GET') response.setHeader('connection', 'close')
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  response.statusCode = answer.status
  if (typeof answer.body === 'string') {
    response.setHeader('content-length', Buffer.byteLength(answer.body))
    output.end(request.method === 'HEAD' ? undefined : answer.body)
  } else {
    if (isHttp2) response.writeHead(answer.status)
    else response.flushHeaders()
    await writeChunks(output, answer.body, signal)
  }
  // Here it is thrown away until it ends or its time is over: clients would take a reset for the loss of the answer.
  if (isHttp2) request.resume()
}

async function writeChunks(
  output: Writable,
  chunks: AsyncIterable<string | Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    if (signal.aborted) break
    if (!output.write(chunk)) await once(output, 'drain', { signal })
  }
  output.end()
}
