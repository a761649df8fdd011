import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../base/async/clock.ts'
import { formatHead } from './answer-upgrade.ts'
import type { ExchangeEnd } from '../exchange.ts'
import { passUpgrade } from './pass-upgrade.ts'
import { relaySpdy } from '../spdy/relay-spdy.ts'
import { relay } from '../relay.ts'
import { toForwardedHeaders } from './to-forwarded-headers.ts'

/** A request to switch protocols, as Node's servers hand it over, and the server that is to answer it. */
export interface ProxyUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What came after the request's headers. */
  readonly head: Buffer
  readonly target: {
    /** A new connection, TLS done where there is one. */
    readonly connect: (signal: AbortSignal) => Promise<Duplex>
    readonly method: string
    /** With the query, if any. */
    readonly path: string
    /** In place of or besides the headers of the request, which are passed on; undefined takes one away. */
    readonly headers: Readonly<Record<string, string | undefined>>
  }
  /** How many outputs a command has that is run over SPDY; undefined where no command is run. */
  readonly outputs?: number
  /** Without a byte in either direction for this long, both connections are closed. */
  readonly idleMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Passes an upgrade request on, and then bytes both ways until it is over. A refusal of the target goes to the client as it came. Throws an
 * UpgradeError when the client is still owed an answer: answerUpgrade() gives it.
 */
export async function proxyUpgrade(options: ProxyUpgrade): Promise<ExchangeEnd | 'refused'> {
  const { request, socket, head, outputs, idleMs, clock, signal } = options
  const target = { ...options.target, headers: toForwardedHeaders(request, options.target.headers) }
  const switched = await passUpgrade({ socket, target, idleMs, clock }, signal)
  if (switched === undefined) return 'refused'
  const { reply, connection } = switched
  socket.write(formatHead(101, reply.rawHeaders))
  const exchange = { client: socket, head, target: connection, idleMs, clock }
  if (reply.headers.upgrade?.toLowerCase() !== 'spdy/3.1') return await relay(exchange, signal)
  const protocol = String(reply.headers['x-stream-protocol-version'] ?? '')
  return await relaySpdy({ ...exchange, command: outputs === undefined ? undefined : { outputs, protocol } }, signal)
}
