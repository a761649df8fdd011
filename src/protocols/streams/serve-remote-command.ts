import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { answerUpgrade } from './upgrade/answer-upgrade.ts'
import { CommandCarrier, ERROR_CHANNEL, firstOutput } from './command-carrier.ts'
import { computeCommandStatus } from './compute-command-status.ts'
import { runExchange } from './exchange.ts'
import type { ExchangeEnd } from './exchange.ts'
import { openRemoteCommand } from './open-remote-command.ts'
import type { CommandServer, CommandStreams, OpenCommand } from './open-remote-command.ts'
import { runPulse } from './run-pulse.ts'
import { WebSocketConnection } from './websocket/websocket-connection.ts'
import { findHandshakeFault, formatHandshake } from './websocket/websocket-handshake.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** A request for a WebSocket on which a command in a container is to be run or met, and the server that has the command. */
export interface RemoteCommand {
  readonly request: Pick<IncomingMessage, 'headers'>
  readonly socket: Duplex
  readonly head: Buffer
  readonly server: CommandServer
  readonly streams: CommandStreams
  /** When nothing happens for this long, the connections are closed. */
  readonly idleMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** The one protocol of remote commands over WebSockets in which a client can end its input. */
export const REMOTE_COMMAND_PROTOCOL = 'v5.channel.k8s.io'

const OPEN_MS = 30_000

/**
 * Speaks WebSocket with the client and SPDY with the server, and carries each stream of the command from one to the other at the pace of the
 * slower side. What goes wrong with the server is reported to the client as the status of the command.
 */
export async function serveRemoteCommand(command: RemoteCommand): Promise<ExchangeEnd> {
  const { request, socket, head, streams, idleMs, clock, signal } = command
  const fault = findHandshakeFault(request.headers)
  if (fault !== undefined) {
    answerUpgrade(socket, { status: 400, body: fault })
    return 'broken'
  }
  socket.on('error', () => {})
  socket.write(formatHandshake(request.headers, REMOTE_COMMAND_PROTOCOL))
  const client = new WebSocketConnection(socket, head)
  // Empty: the client takes it as a sign that all is well so far.
  await client.send(Uint8Array.of(firstOutput(streams)))
  const opened = await open(command, client)
  if (opened === undefined) return 'broken'
  const carrier = new CommandCarrier(client, opened)
  using scope = new AbortScope(signal)
  const keepAnswering = async () => {
    carrier.endIfStuck()
    // What the client sends, its pings too, is not read while a command does not read its input.
    if (carrier.waiting) await client.pong()
  }
  runPulse(clock, keepAnswering, scope.signal).catch(() => {})
  return await runExchange({ client: socket, target: opened.connection, idleMs, clock }, carrier, signal)
}

/** Undefined when that was not possible; then the client knows. */
async function open({ server, streams, clock, signal, socket }: RemoteCommand, client: WebSocketConnection) {
  try {
    const what = 'opening the streams of the command'
    return await withDeadline<OpenCommand>(
      { clock, ms: OPEN_MS, what },
      (signal) => openRemoteCommand(server, streams, signal),
      signal,
    )
  } catch (error) {
    if (signal.aborted) socket.destroy()
    signal.throwIfAborted()
    const failure = errorMessage(error)
    await client.send(
      Uint8Array.of(ERROR_CHANNEL),
      Buffer.from(computeCommandStatus({ version: 5, reported: '', failure })),
    )
    client.close('normal')
    await closeGently(socket, clock, signal)
    return undefined
  }
}

const PATIENCE_MS = 10_000

/**
 * Closes a finished connection, but waits a little for the other side to close first: closing over bytes that were not read would
 * take from it what it has not read yet.
 */
async function closeGently(socket: Duplex, clock: Clock, signal: AbortSignal): Promise<void> {
  using scope = new AbortScope(signal)
  const closed = new Promise<void>((resolve) => {
    socket.once('end', resolve)
    socket.once('close', resolve)
  })
  socket.end()
  socket.resume()
  await Promise.race([closed, clock.sleep(PATIENCE_MS, scope.signal).catch(() => {})])
  socket.destroy()
}
