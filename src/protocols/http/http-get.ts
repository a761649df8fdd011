import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv4 } from 'node:net'
import { request as requestHttp } from '../../base/builtin/http.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** A GET as a pod's spec describes it. */
export interface HttpGetRequest {
  readonly scheme: 'http' | 'https'
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** With its query; sent as it is. */
  readonly path: string
  /** In order; a name may come several times. */
  readonly headers: readonly HttpHeader[]
  /** What comes after so many bytes of the answer's body is left out. */
  readonly maxBodyBytes: number
}

interface HttpHeader {
  readonly name: string
  readonly value: string
}

export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/** A server that was asked for HTTPS answered in plain HTTP. */
export class PlainHttpError extends Error {
  override readonly name = 'PlainHttpError'
}

/** The answer began and broke off. */
export class BrokenAnswerError extends Error {
  override readonly name = 'BrokenAnswerError'
}

const MAX_REDIRECTS = 10
// OpenSSL's number for "wrong version", which is how it reads the first bytes of a plain answer; Node knows it by text or by code.
const PLAIN_ANSWER = /error:0A00010B:|ERR_SSL_WRONG_VERSION_NUMBER/

/**
 * GETs something from a container: over a new connection, without proxy, without looking at certificates. Redirects are followed to
 * the same host only; one that leads elsewhere is itself the answer. The signal is the only limit of time.
 */
export async function httpGet(request: HttpGetRequest, signal: AbortSignal): Promise<HttpAnswer> {
  let current = toUrl(request)
  let { path } = request
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const response = await send(current, path, { ...request, signal })
    const next = redirectOf(response, current)
    if (next === undefined || next.hostname !== current.hostname) {
      return { status: response.statusCode ?? 0, body: await readBody(response, request.maxBodyBytes, signal) }
    }
    response.destroy()
    current = next
    path = `${next.pathname}${next.search}`
  }
  throw new Error(`stopped after ${MAX_REDIRECTS} redirects`)
}

function toUrl({ scheme, host, port }: HttpGetRequest): URL {
  return new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | undefined {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined
  const next = URL.parse(location, from)
  return next?.protocol === 'http:' || next?.protocol === 'https:' ? next : undefined
}

async function send(
  url: URL,
  path: string,
  { headers, signal }: { readonly headers: readonly HttpHeader[]; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  signal.throwIfAborted()
  return await new Promise((resolve, reject) => {
    const options = { path: toRequestTarget(path), agent: false as const, signal }
    const outgoing =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, rejectUnauthorized: false, servername: serverName(url) })
        : requestHttp(url, options)
    setHeaders(outgoing, headers)
    outgoing.on('response', resolve)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(signal.reason)
      else if (PLAIN_ANSWER.test(`${error.code} ${error.message}`)) {
        reject(new PlainHttpError(`Cannot get "${url.host}" over HTTPS: got plain HTTP`, { cause: error }))
      } else reject(error)
    })
    outgoing.end()
  })
}

/** What the certificate is asked for by: the place of the server, whatever the header Host says. An address has no name. */
function serverName({ hostname }: URL): string {
  return hostname.startsWith('[') || isIPv4(hostname) ? '' : hostname
}

function setHeaders(outgoing: ClientRequest, headers: readonly HttpHeader[]): void {
  for (const [name, same] of Map.groupBy(headers, (header) => header.name.toLowerCase())) {
    const values = same.map(({ value }) => value)
    outgoing.setHeader(same[0]?.name ?? name, values.length === 1 ? (values[0] ?? '') : values)
  }
}

/** What may not stand in a request line is escaped; what comes after a hash is for readers of documents only. */
function toRequestTarget(path: string): string {
  const [visible = ''] = path.split('#')
  const escaped = visible.replaceAll(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
  return escaped.startsWith('/') ? escaped : `/${escaped}`
}

async function readBody(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= maxBytes) break
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const why = errorMessage(error)
    throw new BrokenAnswerError(`Cannot read the answer: ${why}`, { cause: error })
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes)
}
