import { pipeline } from 'node:stream'
import { request as startRequest } from '../../../base/builtin/http.ts'
import type { Agent, IncomingMessage, ServerResponse } from '../../../base/builtin/http.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import { computeAnswerHeaders } from './compute-passed-headers.ts'
import { CONNECT_MS, IDLE_MS, MOST_TRIES } from './ingress-limits.ts'

/** A request on its way to a pod. */
interface PassedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly headers: readonly string[]
  /** With the query. */
  readonly uri: string
  /** In the order in which they are tried. */
  readonly targets: readonly EndpointTarget[]
}

export interface PassedConnections {
  /** Keeps connections for the next request. */
  readonly kept: Agent
  /** Makes one for each request. */
  readonly fresh: Agent
}

// A kept connection may be closed by its pod at the very moment it is used. These can be sent again then, others go over one of their own.
const REPEATABLE = ['GET', 'HEAD', 'OPTIONS']

/** Sends a request to a pod and its answer back, both as streams. Tries another pod only while nothing was sent. */
export function passIngressRequest(passed: PassedRequest, agents: PassedConnections): void {
  const { request, response } = passed
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
  const isRepeatable = !hasBody && REPEATABLE.includes(request.method ?? '')
  const framing = request.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  const headers = [...passed.headers, ...framing]
  const attempt = (tried: number, agent: Agent): void => {
    const target = passed.targets[tried % passed.targets.length]
    if (target === undefined) return sayError(response, 503, 'no endpoint')
    const { address: host, port } = target
    const { method } = request
    const outgoing = startRequest({
      host,
      port,
      method,
      path: passed.uri,
      headers,
      agent,
      setHost: false,
      timeout: CONNECT_MS,
    })
    let isConnected = false
    const leave = () => outgoing.destroy()
    response.once('close', leave)
    outgoing.once('socket', (socket) => {
      const begin = () => {
        isConnected = true
        outgoing.setTimeout(IDLE_MS)
        // Errors of the client end its response too.
        if (hasBody) pipeline(request, outgoing, () => {})
      }
      if (socket.connecting) socket.once('connect', begin)
      else begin()
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error('time-out')))
    outgoing.once('error', (error) => {
      response.removeListener('close', leave)
      if (response.destroyed) return
      if (response.headersSent) return void response.destroy()
      const next = tried + 1
      const mayGoOn = !isConnected && next < Math.min(MOST_TRIES, passed.targets.length)
      // The pod closed it before it saw the request.
      if (isConnected && outgoing.reusedSocket && isRepeatable) attempt(tried, agents.fresh)
      else if (mayGoOn) attempt(next, agent)
      else sayError(response, error.message === 'time-out' && isConnected ? 504 : 502, 'the service does not answer')
    })
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...computeAnswerHeaders(answer.rawHeaders)])
      response.flushHeaders()
      // A broken answer is broken for the client too: it must not take it for a whole one.
      pipeline(answer, response, () => response.removeListener('close', leave))
    })
    if (!hasBody) outgoing.end()
  }
  attempt(0, isRepeatable ? agents.kept : agents.fresh)
}

/** Answers in the place of a service. */
export function sayError(response: ServerResponse, status: number, what: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
  response.end(`${status} ${what}\n`)
}
