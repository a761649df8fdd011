/**
 * The child process of openNamespaceDialer(): it runs in the network namespace of a pod, connects to the ports that it is asked for, and hands
 * the connections over to the agent. It ends with the channel to the agent.
 */
import { Socket } from 'node:net'
import process from 'node:process'

interface Request {
  readonly id: number
  readonly port: number
}

process.on('disconnect', () => process.exit(0))
process.on('message', ({ id, port }: Request) => connect({ id, port }, ['127.0.0.1', '::1']))

/**
 * One address after the other: a program may listen on either alone. When none answers, what the first said is reported: a pod may have no
 * IPv6 at all, which says nothing about the port.
 */
function connect({ id, port }: Request, [host, ...others]: readonly string[], firstError?: string): void {
  const socket = new Socket({ allowHalfOpen: true })
  // Not a byte is read here: all belong to the agent.
  socket.pause()
  socket.once('error', (error) => {
    const message = firstError ?? error.message
    if (others.length > 0) connect({ id, port }, others, message)
    else process.send?.({ id, error: message })
  })
  socket.once('connect', () => process.send?.({ id }, socket))
  socket.connect({ host: host ?? '', port })
}
