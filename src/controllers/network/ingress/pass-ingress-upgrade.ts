import type { Duplex } from 'node:stream'
import type { Clock } from '../../../base/async/clock.ts'
import { request as startRequest, STATUS_CODES } from '../../../base/builtin/http.ts'
import type { IncomingMessage } from '../../../base/builtin/http.ts'
import { relay } from '../../../protocols/streams/relay.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import { computeAnswerHeaders } from './compute-passed-headers.ts'
import { CONNECT_MS, IDLE_MS, MOST_TRIES, UPGRADED_IDLE_MS } from './ingress-limits.ts'

/** A connection that is to become something else, such as a WebSocket. */
interface PassedUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What came after the request. */
  readonly head: Buffer
  readonly headers: readonly string[]
  readonly uri: string
  readonly targets: readonly EndpointTarget[]
  readonly clock: Clock
}

/** Passes the request on and then bytes both ways, if the pod agrees; otherwise its answer. */
export function passIngressUpgrade(passed: PassedUpgrade, signal: AbortSignal): void {
  const { request, socket, targets } = passed
  const headers = [...passed.headers, 'Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? '']
  socket.on('error', () => socket.destroy())
  // The exchange ends an idle connection from here on.
  request.socket.setTimeout(0)
  const attempt = (tried: number): void => {
    const target = targets[tried]
    if (target === undefined) return sayRaw(socket, 503, 'no endpoint')
    const { address: host, port } = target
    const { method } = request
    const options = { host, port, method, path: passed.uri, headers, agent: false, setHost: false, timeout: CONNECT_MS }
    const outgoing = startRequest(options)
    const leave = () => outgoing.destroy()
    let isConnected = false
    socket.once('close', leave)
    outgoing.once('socket', (connection) => {
      connection.once('connect', () => {
        isConnected = true
        outgoing.setTimeout(IDLE_MS)
      })
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error('time-out')))
    outgoing.once('error', () => {
      socket.removeListener('close', leave)
      const next = tried + 1
      if (!isConnected && next < Math.min(MOST_TRIES, targets.length)) attempt(next)
      else sayRaw(socket, 502, 'the service does not answer')
    })
    outgoing.once('upgrade', (answer, target, targetHead) => {
      socket.removeListener('close', leave)
      target.setTimeout(0)
      socket.write(rawHead(answer, ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? '']))
      if (targetHead.length > 0) socket.write(targetHead)
      const { clock, head } = passed
      void relay({ client: socket, target, head, idleMs: UPGRADED_IDLE_MS, clock }, signal)
    })
    outgoing.once('response', (answer) => {
      socket.write(rawHead(answer, ['Connection', 'close']))
      answer.pipe(socket)
      answer.once('close', () => {
        socket.removeListener('close', leave)
        if (!answer.complete) socket.destroy()
      })
    })
    outgoing.end()
  }
  attempt(0)
}

function rawHead(answer: IncomingMessage, more: readonly string[]): string {
  const headers = [...computeAnswerHeaders(answer.rawHeaders), ...more]
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : []))
  return `HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`
}

/** Answers in the place of a service on a connection that is not the server's any more. */
export function sayRaw(socket: Duplex, status: number, what: string): void {
  if (socket.destroyed) return
  const body = `${status} ${what}\n`
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8`
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}
