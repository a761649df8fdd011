import type { Server } from 'node:net'
import type { Socket } from 'node:net'

// Enough for every client that a node has; each costs some tens of kilobytes.
const MAX_CONNECTIONS = 4000
// Those in their handshake, and those that have not shown who they are. A newcomer drives out the oldest of them, so that nobody can keep
// others out by only sitting there.
const MAX_STRANGERS = 1000

/** The connections of a server: how many there are, and who may stay. */
export class Connections {
  readonly #sockets = new Map<string, Socket>()
  /** By age. */
  readonly #strangers = new Map<string, Socket>()

  constructor(server: Server) {
    server.maxConnections = MAX_CONNECTIONS
    server.on('connection', (socket) => this.#add(socket))
  }

  /** Whoever is at the other end has shown who it is. The socket may be the encrypted one on top. */
  know(socket: Socket): void {
    this.#strangers.delete(nameOf(socket))
  }

  get strangers(): number {
    return this.#strangers.size
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }

  #add(socket: Socket): void {
    const name = nameOf(socket)
    this.#sockets.set(name, socket)
    this.#strangers.set(name, socket)
    socket.once('close', () => {
      if (this.#sockets.get(name) !== socket) return
      this.#sockets.delete(name)
      this.#strangers.delete(name)
    })
    if (this.#strangers.size <= MAX_STRANGERS) return
    const [oldest] = this.#strangers
    if (oldest === undefined) return
    this.#strangers.delete(oldest[0])
    oldest[1].destroy()
  }
}

/** The two ends of a connection are never the same for two that are open. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
