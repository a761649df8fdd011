import type { Duplex } from 'node:stream'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import { answerUpgrade } from '../upgrade/answer-upgrade.ts'
import { runExchange } from '../exchange.ts'
import type { Directions, ExchangeEnd } from '../exchange.ts'
import type { IdleWatch } from '../idle-watch.ts'
import { passUpgrade } from '../upgrade/pass-upgrade.ts'
import type { ProxyUpgrade } from '../upgrade/proxy-upgrade.ts'
import { readChunks } from '../read-chunks.ts'
import { runPulse } from '../run-pulse.ts'
import { toForwardedHeaders } from '../upgrade/to-forwarded-headers.ts'
import { WebSocketConnection } from '../websocket/websocket-connection.ts'
import { findHandshakeFault, formatHandshake, listWebSocketProtocols } from '../websocket/websocket-handshake.ts'
import { endWriting, writeBytes } from '../write-bytes.ts'

const PREFIX = 'SPDY/3.1+'
const SUFFIX = '.k8s.io'
const PROTOCOL = 'X-Stream-Protocol-Version'

/** The protocols inside SPDY which a request wants to speak through a WebSocket; none when it wants something else. */
export function listTunnelledProtocols(request: Pick<ProxyUpgrade['request'], 'headers'>): string[] {
  const offered = listWebSocketProtocols(request.headers) ?? []
  return offered
    .filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
    .map((name) => name.slice(PREFIX.length))
}

/**
 * Answers a request for a WebSocket by a SPDY connection to the target: messages carry its bytes. For the rest it is as with proxyUpgrade(); the
 * method and the headers of the upgrade are ours.
 */
export async function serveSpdyTunnel(options: ProxyUpgrade): Promise<ExchangeEnd | 'refused'> {
  const { request, socket, head, idleMs, clock, signal } = options
  const fault = findHandshakeFault(request.headers)
  if (fault !== undefined) {
    answerUpgrade(socket, { status: 400, body: fault })
    return 'refused'
  }
  const target = { ...options.target, method: 'POST', headers: toSpdyHeaders(options) }
  const switched = await passUpgrade({ socket, target, idleMs, clock }, signal)
  if (switched === undefined) return 'refused'
  const { reply, connection } = switched
  const chosen = String(reply.headers[PROTOCOL.toLowerCase()] ?? '').trim()
  socket.write(formatHandshake(request.headers, chosen === '' ? undefined : `${PREFIX}${chosen}`))
  const client = new WebSocketConnection(socket, head)
  const directions = new TunnelCarrier(client, connection)
  using scope = new AbortScope(signal)
  // Shows a client that we are there while nothing is read from it; one that has gone is detected this way.
  const keepAnswering = async () => {
    if (directions.waiting) await client.pong()
  }
  runPulse(clock, keepAnswering, scope.signal).catch(() => {})
  return await runExchange({ client: socket, target: connection, idleMs, clock }, directions, signal)
}

function toSpdyHeaders({ request, target }: ProxyUpgrade): string[] {
  const changes = {
    ...target.headers,
    'Sec-WebSocket-Protocol': undefined,
    'Sec-WebSocket-Key': undefined,
    'Sec-WebSocket-Version': undefined,
    'Sec-WebSocket-Extensions': undefined,
    [PROTOCOL]: undefined,
    Upgrade: 'SPDY/3.1',
  }
  const protocols = listTunnelledProtocols(request)
  return [...toForwardedHeaders(request, changes), ...protocols.flatMap((name) => [PROTOCOL, name])]
}

/** Carries the bytes of a SPDY connection between messages of a WebSocket and the target. */
class TunnelCarrier implements Directions {
  readonly #client: WebSocketConnection
  readonly #target: Duplex
  /** True while the target does not take what the client has sent. */
  waiting = false

  constructor(client: WebSocketConnection, target: Duplex) {
    this.#client = client
    this.#target = target
  }

  fromClient = async (idle: IdleWatch): Promise<void> => {
    for await (const { bytes } of this.#client.pieces()) {
      // What can no longer be delivered is read all the same, so that what is on its way to the client is not lost.
      if (this.#target.destroyed) continue
      idle.touch()
      this.waiting = true
      await writeBytes(this.#target, bytes).catch(() => {})
      this.waiting = false
      idle.touch()
    }
    await endWriting(this.#target)
  }

  fromTarget = async (idle: IdleWatch): Promise<void> => {
    try {
      for await (const chunk of readChunks(this.#target)) {
        idle.touch()
        await this.#client.send(chunk)
        idle.touch()
      }
    } finally {
      this.#client.close('normal')
    }
  }
}
