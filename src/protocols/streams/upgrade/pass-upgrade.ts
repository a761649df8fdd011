import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import { formatHead } from './answer-upgrade.ts'
import { openUpgrade } from './open-upgrade.ts'
import type { UpgradeReply, UpgradeTarget } from './open-upgrade.ts'
import { endWriting, writeBytes } from '../write-bytes.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** A client that waits for an upgrade, and the server that is asked for it in its name. */
interface PassedUpgrade {
  readonly socket: Duplex
  readonly target: UpgradeTarget
  /** How long the server may take to answer. */
  readonly idleMs: number
  readonly clock: Clock
}

/** The server could not be asked, or said neither yes nor no. The client has got no answer yet. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError'
}

const ECHO_MS = 10_000

/**
 * Asks the server to switch protocols, and returns its connection when it did. A refusal goes to the client as it came, and nothing is returned.
 * Throws an UpgradeError when the client is still owed an answer.
 */
export async function passUpgrade(
  passed: PassedUpgrade,
  signal: AbortSignal,
): Promise<Omit<UpgradeReply, 'kind'> | undefined> {
  const answer = await askTarget(passed, signal)
  if (answer.kind === 'switched') return answer
  const { reply, connection } = answer
  try {
    const status = reply.statusCode ?? 0
    if (status < 400)
      throw new UpgradeError(`Cannot upgrade the connection: the server answered ${status}, expected 101`)
    await echoRefusal(passed, reply, signal)
  } finally {
    connection.destroy()
  }
  return undefined
}

/** The client may leave while we wait. */
async function askTarget({ socket, target, idleMs, clock }: PassedUpgrade, signal: AbortSignal): Promise<UpgradeReply> {
  using scope = new AbortScope(signal)
  const leave = () => scope.abort(new Error('the client left'))
  socket.on('error', () => {})
  socket.once('close', leave)
  try {
    const what = 'the upgrade request'
    return await withDeadline({ clock, ms: idleMs, what }, (signal) => openUpgrade(target, signal), scope.signal)
  } catch (error) {
    if (signal.aborted) socket.destroy()
    signal.throwIfAborted()
    const why = errorMessage(error)
    throw new UpgradeError(`Cannot upgrade the connection: ${why}`, { cause: error })
  } finally {
    socket.off('close', leave)
  }
}

async function echoRefusal(
  { socket, clock }: PassedUpgrade,
  reply: IncomingMessage,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withDeadline({ clock, ms: ECHO_MS, what: 'the answer' }, () => echoAnswer(socket, reply), signal)
  } catch {
    // Begun already, so it can only be broken off.
  } finally {
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
