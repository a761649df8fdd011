import type { Server } from 'node:net'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from './connection-limits.ts'

/** The connections of a server: how many there are, and who may stay. */
export class ClientConnections {
  readonly #sockets = new Map<string | Socket, Socket>()
  /** By age. */
  readonly #unauthenticated = new Map<string | Socket, Socket>()
  readonly #mostUnauthenticated: number

  constructor(server: Server, { all, unauthenticated }: ConnectionLimits) {
    this.#mostUnauthenticated = unauthenticated
    server.maxConnections = all
    server.on('connection', (socket) => this.#add(socket))
  }

  /** The client has authenticated itself. The socket may be the encrypted one on top. */
  know(socket: Socket): void {
    this.#unauthenticated.delete(nameOf(socket))
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }

  #add(socket: Socket): void {
    const name = nameOf(socket)
    this.#sockets.set(name, socket)
    this.#unauthenticated.set(name, socket)
    socket.once('close', () => {
      if (this.#sockets.get(name) !== socket) return
      this.#sockets.delete(name)
      this.#unauthenticated.delete(name)
    })
    if (this.#unauthenticated.size <= this.#mostUnauthenticated) return
    const [oldest] = this.#unauthenticated
    if (oldest === undefined) return
    this.#unauthenticated.delete(oldest[0])
    oldest[1].destroy()
  }
}

/**
 * The two ends of a connection are never the same for two that are open. One of a unix socket has no address, and no other socket on top of it.
 */
function nameOf(socket: Socket): string | Socket {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return remoteAddress === undefined ? socket : `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
