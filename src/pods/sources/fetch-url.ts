import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { request as requestHttp } from '../../base/builtin/http.ts'

/** Header names with all their values. */
export type HeaderMap = Readonly<Record<string, readonly string[]>>

/** Limits of a fetch. */
export interface FetchOptions {
  readonly headers: HeaderMap
  readonly maxBytes: number
}

const MAX_REDIRECTS = 10

/** GETs a URL over http or https; the whole body, or an error. Redirects are followed, without the headers to another host. */
export async function fetchUrl(url: string, options: FetchOptions, signal: AbortSignal): Promise<Uint8Array> {
  let current = new URL(url)
  let { headers } = options
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await get(current, headers, signal)
    const status = response.statusCode ?? 0
    const { location } = response.headers
    if (status === 200) return await readBody(response, options.maxBytes)
    response.destroy()
    if (status < 301 || status > 308 || location === undefined) {
      throw new Error(`Cannot fetch "${publicUrl(url)}": status ${status}, expected 200`)
    }
    const next = new URL(location, current)
    if (next.host !== current.host) headers = {}
    current = next
  }
  throw new Error(`Cannot fetch "${publicUrl(url)}": more than ${MAX_REDIRECTS} redirects`)
}

async function get(url: URL, headers: HeaderMap, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return await new Promise((resolve, reject) => {
    const outgoing = request(url, { signal, agent: false })
    for (const [name, values] of Object.entries(headers)) outgoing.setHeader(name, [...values])
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.end()
  })
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`Cannot take the answer: more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A URL as it may be shown: without the password that it may carry. */
export function publicUrl(url: string): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  return shown.href
}
