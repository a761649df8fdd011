import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AbortScope } from '../async/abort-scope.ts'
import type { Clock } from '../async/clock.ts'
import { withDeadline } from '../async/deadline.ts'
import { formatHead } from './answer-upgrade.ts'
import { openUpgrade } from './open-upgrade.ts'
import type { UpgradeReply, UpgradeTarget } from './open-upgrade.ts'
import { relay } from './relay.ts'
import type { RelayEnd } from './relay.ts'
import { toForwardedHeaders } from './to-forwarded-headers.ts'
import { endWriting, writeBytes } from './write-bytes.ts'

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

/** The target could not be asked, or said neither yes nor no. The client has got no answer yet. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError'
}

const ECHO_MS = 10_000

/**
 * Passes an upgrade request on, and then bytes both ways until it is over. A refusal of the target goes to the client as it came. Throws an
 * UpgradeError when the client is still owed an answer: answerUpgrade() gives it.
 */
export async function proxyUpgrade(options: ProxyUpgrade): Promise<RelayEnd | 'refused'> {
  const { request, socket, head, idleMs, clock, signal } = options
  socket.on('error', () => {})
  const target = { ...options.target, headers: toForwardedHeaders(request, options.target.headers) }
  const answer = await askTarget({ socket, target, idleMs, clock }, signal)
  const { reply, connection } = answer
  if (answer.kind === 'answered') {
    await echoRefusal({ socket, reply, connection, clock }, signal)
    return 'refused'
  }
  socket.write(formatHead(101, reply.rawHeaders))
  return await relay({ client: socket, head, target: connection, idleMs, clock }, signal)
}

interface Question extends Pick<ProxyUpgrade, 'socket' | 'idleMs' | 'clock'> {
  readonly target: UpgradeTarget
}

/** The client may leave while we wait. */
async function askTarget(question: Question, signal: AbortSignal): Promise<UpgradeReply> {
  const { socket, target, idleMs, clock } = question
  using scope = new AbortScope(signal)
  const leave = () => scope.abort(new Error('the client left'))
  socket.once('close', leave)
  try {
    const what = 'the upgrade request'
    return await withDeadline({ clock, ms: idleMs, what }, (signal) => openUpgrade(target, signal), scope.signal)
  } catch (error) {
    if (signal.aborted) socket.destroy()
    signal.throwIfAborted()
    const why = Error.isError(error) ? error.message : String(error)
    throw new UpgradeError(`Cannot upgrade the connection: ${why}`, { cause: error })
  } finally {
    socket.off('close', leave)
  }
}

interface Echo {
  readonly socket: Duplex
  readonly reply: IncomingMessage
  readonly connection: Duplex
  readonly clock: Clock
}

async function echoRefusal({ socket, reply, connection, clock }: Echo, signal: AbortSignal): Promise<void> {
  const status = reply.statusCode ?? 0
  if (status < 400) {
    connection.destroy()
    throw new UpgradeError(`Cannot upgrade the connection: the server answered ${status}, expected 101`)
  }
  try {
    await withDeadline({ clock, ms: ECHO_MS, what: 'the answer' }, () => echoAnswer(socket, reply), signal)
  } catch {
    // Begun already, so it can only be broken off.
  } finally {
    connection.destroy()
    socket.destroy()
  }
}

// The body comes decoded and without a known end, so the end of the connection says where it is.
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade']

async function echoAnswer(socket: Duplex, reply: IncomingMessage): Promise<void> {
  const kept = reply.rawHeaders.filter((_, at, all) => !OF_THE_CONNECTION.includes(nameAt(all, at)))
  await writeBytes(socket, Buffer.from(formatHead(reply.statusCode ?? 500, [...kept, 'Connection', 'close'])))
  for await (const chunk of reply) await writeBytes(socket, chunk as Uint8Array)
  await endWriting(socket)
}

/** The header to which an entry of rawHeaders belongs, be it the name or the value. */
function nameAt(rawHeaders: readonly string[], at: number): string {
  return (rawHeaders[at - (at % 2)] ?? '').toLowerCase()
}
