import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import process from 'node:process'
import { DbusConnectionError } from './dbus-error.ts'
import { parseBusAddress } from './parse-bus-address.ts'
import { toError } from '../../base/telemetry/error-text.ts'

// "OK" and the id of the server are 35 letters; a server that sends much more speaks something else.
const LONGEST_LINE = 1024

/** Connects to a bus and says who we are; what follows on the socket are messages. */
export async function openBusSocket(address: string, signal: AbortSignal): Promise<Socket> {
  const problems: Error[] = []
  for (const path of parseBusAddress(address)) {
    try {
      return await openOne(path, signal)
    } catch (error) {
      signal.throwIfAborted()
      problems.push(toError(error))
    }
  }
  const [first] = problems
  throw new DbusConnectionError(`Cannot connect to the bus at "${address}": ${first?.message}`, { cause: first })
}

async function openOne(path: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ path })
  socket.on('error', () => {}) // The close that follows is handled.
  try {
    await once(socket, 'connect', { signal })
    // The other side learns our user from the kernel; the text only claims it.
    const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex')
    socket.write(`\0AUTH EXTERNAL ${user}\r\n`)
    const answer = await readLine(socket, signal)
    if (!answer.startsWith('OK ')) throw new DbusConnectionError(`Cannot log in: answered "${answer}", expected OK`)
    socket.write('BEGIN\r\n')
    return socket
  } catch (error) {
    socket.destroy()
    throw signal.aborted ? signal.reason : error
  }
}

/** The server says nothing more before we do, so no byte of a message can be in it. */
async function readLine(socket: Socket, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  const read = (chunk: Buffer) => {
    text += chunk.toString('latin1')
    if (text.endsWith('\r\n')) resolve(text.slice(0, -2))
    else if (text.length > LONGEST_LINE) reject(new DbusConnectionError('Cannot log in: the answer has no end'))
  }
  const close = () => reject(new DbusConnectionError('Cannot log in: the connection was closed'))
  const stop = () => reject(signal.reason)
  socket.on('data', read)
  socket.on('close', close)
  signal.addEventListener('abort', stop)
  try {
    return await promise
  } finally {
    socket.pause()
    socket.off('data', read)
    socket.off('close', close)
    signal.removeEventListener('abort', stop)
  }
}
