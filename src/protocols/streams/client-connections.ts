import type { Server } from 'node:net'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from './connection-limits.ts'

interface ClientConnection {
  readonly socket: Socket
  readonly address: string
  /** For how many reasons it is kept. */
  kept: number
}

/** The connections of a server: how many there are, and who may stay. */
export class ClientConnections {
  readonly #limits: ConnectionLimits
  readonly #connections = new Map<string | Socket, ClientConnection>()
  /** Those that nothing keeps; first the one of which that has been true for the longest time. */
  readonly #replaceable = new Map<string | Socket, ClientConnection>()
  readonly #counts = new Map<string, number>()

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits
    server.maxConnections = limits.all
    server.on('connection', (socket) => this.#add(socket))
  }

  /** No newcomer drives this one out any more, until what is returned is called. The socket may be the encrypted one on top. */
  keep(socket: Socket): () => void {
    const name = nameOf(socket)
    const connection = this.#connections.get(name)
    if (connection === undefined) return () => {}
    connection.kept++
    this.#replaceable.delete(name)
    return () => {
      connection.kept--
      if (connection.kept === 0 && this.#connections.get(name) === connection) this.#replaceable.set(name, connection)
    }
  }

  destroyAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #add(socket: Socket): void {
    const name = nameOf(socket)
    const connection = { socket, address: socket.remoteAddress ?? '', kept: 0 }
    const { address } = connection
    this.#connections.set(name, connection)
    this.#replaceable.set(name, connection)
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
    socket.once('close', () => this.#remove(name, connection))
    const { replaceable, perAddress = Number.POSITIVE_INFINITY } = this.#limits
    if ((this.#counts.get(address) ?? 0) > perAddress) this.#driveOut((other) => other.address === address)
    else if (this.#replaceable.size > replaceable) this.#driveOut(() => true)
  }

  /** The newcomer itself where all others are kept. */
  #driveOut(isMeant: (connection: ClientConnection) => boolean): void {
    for (const [name, connection] of this.#replaceable) {
      if (!isMeant(connection)) continue
      this.#remove(name, connection)
      connection.socket.destroy()
      return
    }
  }

  #remove(name: string | Socket, connection: ClientConnection): void {
    if (this.#connections.get(name) !== connection) return
    this.#connections.delete(name)
    this.#replaceable.delete(name)
    const left = (this.#counts.get(connection.address) ?? 0) - 1
    if (left > 0) this.#counts.set(connection.address, left)
    else this.#counts.delete(connection.address)
  }
}

/**
 * The two ends of a connection are never the same for two that are open. One of a unix socket has no address, and no other socket on top of it.
 */
function nameOf(socket: Socket): string | Socket {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return remoteAddress === undefined ? socket : `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
