import { createSocket } from 'node:dgram'
import type { Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'
import type { Server } from 'node:net'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { ClientConnections } from '../../../protocols/streams/client-connections.ts'
import { DnsConnection } from './dns-connection.ts'
import { formatRefusal, formatReply, parseQuery, RCODES } from './dns-message.ts'
import type { DnsQuery, DnsReply } from './dns-message.ts'

export interface ServeDnsOptions {
  readonly address: string
  readonly port: number
  readonly answer: (query: DnsQuery, signal: AbortSignal) => Promise<DnsReply>
  readonly clock: Clock
  readonly log: Logger
  /** With the port that was taken. */
  readonly onReady?: (port: number) => void
}

// Those beyond the replaceable ones have a question that is being answered. One pod has a few connections at a time.
const LIMITS = { all: 400, replaceable: 200, perAddress: 50 }
// More questions than that wait for other servers only in a flood.
const MOST_OPEN = 1000

/** Answers questions over UDP and TCP until the signal aborts. */
export async function serveDns(options: ServeDnsOptions, signal: AbortSignal): Promise<never> {
  using scope = new AbortScope(signal)
  const { address, clock, log } = options
  let open = 0
  const reply = async (bytes: Buffer, isTcp: boolean, send: (answer: Buffer) => void) => {
    const query = parseQuery(bytes)
    if (query === undefined) return
    if ('refusal' in query) return send(formatRefusal(query.id, query.refusal))
    if (open >= MOST_OPEN) return send(formatReply(query, { rcode: RCODES.REFUSED }, isTcp))
    open++
    try {
      send(formatReply(query, await options.answer(query, scope.signal), isTcp))
    } catch (error) {
      if (scope.signal.aborted) return
      log.warn('a question to DNS could not be answered', { name: query.question.name, error })
      send(formatReply(query, { rcode: RCODES.SERVFAIL }, isTcp))
    } finally {
      open--
    }
  }
  const udp = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const tcp = createServer()
  const connections = new ClientConnections(tcp, LIMITS)
  const answerTcp = (bytes: Buffer, send: (answer: Buffer) => void) => reply(bytes, true, send)
  tcp.on('connection', (socket) => new DnsConnection(socket, { clock, connections, reply: answerTcp }))
  try {
    udp.on('message', (bytes, from) => {
      void reply(bytes, false, (answer) => udp.send(answer, from.port, from.address, () => {}))
    })
    const port = await bindBoth(udp, tcp, options)
    log.info('DNS listens', { address, port })
    options.onReady?.(port)
    const failed = Promise.race([once(udp, 'error'), once(tcp, 'error')])
    const over = once(scope.signal, 'abort')
    const [error] = await Promise.race([failed, over])
    signal.throwIfAborted()
    throw error
  } finally {
    udp.close()
    tcp.close()
    connections.destroyAll()
  }
}

async function bindBoth(udp: UdpSocket, tcp: Server, { address, port }: ServeDnsOptions): Promise<number> {
  try {
    tcp.listen(port, address)
    await once(tcp, 'listening')
    const bound = (tcp.address() as { readonly port: number }).port
    udp.bind(bound, address)
    await once(udp, 'listening')
    return bound
  } catch (error) {
    throw new Error(`Cannot serve DNS on ${address}:${port}`, { cause: error })
  }
}
