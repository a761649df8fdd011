import type { Duplex } from 'node:stream'
import { answerUpgrade } from './answer-upgrade.ts'
import { runExchange } from './exchange.ts'
import type { Directions, ExchangeEnd } from './exchange.ts'
import { passUpgrade } from './pass-upgrade.ts'
import type { ProxyUpgrade } from './proxy-upgrade.ts'
import { readChunks } from './read-chunks.ts'
import { toForwardedHeaders } from './to-forwarded-headers.ts'
import { WebSocketConnection } from './websocket-connection.ts'
import { findHandshakeFault, formatHandshake, listWebSocketProtocols } from './websocket-handshake.ts'
import { endWriting, writeBytes } from './write-bytes.ts'

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
  const directions = createDirections(new WebSocketConnection(socket, head), connection)
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

function createDirections(client: WebSocketConnection, target: Duplex): Directions {
  return {
    async fromClient(idle) {
      for await (const { bytes } of client.pieces()) {
        // What can no longer be delivered is read all the same, so that what is on its way to the client is not lost.
        if (target.destroyed) continue
        idle.touch()
        await writeBytes(target, bytes).catch(() => {})
        idle.touch()
      }
      await endWriting(target)
    },
    async fromTarget(idle) {
      try {
        for await (const chunk of readChunks(target)) {
          idle.touch()
          await client.send(chunk)
          idle.touch()
        }
      } finally {
        client.close('normal')
      }
    },
  }
}
