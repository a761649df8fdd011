import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../async/clock.ts'
import { formatHead } from './answer-upgrade.ts'
import type { ExchangeEnd } from './exchange.ts'
import { passUpgrade } from './pass-upgrade.ts'
import { relay } from './relay.ts'
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
  const { request, socket, head, idleMs, clock, signal } = options
  const target = { ...options.target, headers: toForwardedHeaders(request, options.target.headers) }
  const switched = await passUpgrade({ socket, target, idleMs, clock }, signal)
  if (switched === undefined) return 'refused'
  socket.write(formatHead(101, switched.reply.rawHeaders))
  return await relay({ client: socket, head, target: switched.connection, idleMs, clock }, signal)
}
