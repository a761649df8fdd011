import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import { Http2Connection } from './http2-connection.ts'
import { BrokenConnectionError } from './transport.ts'

export interface Http2Deps {
  readonly origin: string
  /** Fails with a BrokenConnectionError. */
  readonly connect: () => Promise<Socket>
  /** Takes a connection to a server that speaks HTTP/1.1. */
  readonly onHttp1: (socket: Socket) => void
  readonly tasks: Pick<TaskGroup, 'run' | 'signal'>
  readonly clock: Clock
}

// With a hundred requests each; a node has a few watches for each pod.
const MOST_CONNECTIONS = 64

type Opened = 'h2' | 'http/1.1' | 'too late'

/** As few connections as the server's limit of requests for each allows. */
export class Http2Connections {
  readonly #deps: Http2Deps
  readonly #connections = new Set<Http2Connection>()
  #opening: Promise<Opened> | undefined
  /** What began to open before is not used after all was closed. */
  #generation = 0

  constructor(deps: Http2Deps) {
    this.#deps = deps
  }

  /** A connection with room that is kept for one request; undefined when the server speaks HTTP/1.1. */
  async acquire(signal: AbortSignal): Promise<Http2Connection | undefined> {
    for (;;) {
      const free = this.#connections.values().find(({ hasRoom }) => hasRoom)
      if (free !== undefined) {
        free.reserve()
        return free
      }
      if (this.#connections.size >= MOST_CONNECTIONS) {
        throw new BrokenConnectionError(
          `Cannot open more than ${MOST_CONNECTIONS} connections to the API server`,
          'refused',
        )
      }
      // Others may have filled it before us: check again.
      if ((await waitForShared((this.#opening ??= this.#open()), signal)) === 'http/1.1') return undefined
    }
  }

  destroyAll(why: string): void {
    this.#generation += 1
    this.#opening = undefined
    for (const connection of this.#connections) connection.destroy(why)
    this.#connections.clear()
  }

  async #open(): Promise<Opened> {
    const { origin, connect, onHttp1, tasks, clock } = this.#deps
    const generation = this.#generation
    try {
      const socket = await connect()
      if (generation !== this.#generation) {
        socket.destroy()
        return 'too late'
      }
      if ((socket as TLSSocket).alpnProtocol !== 'h2') {
        onHttp1(socket)
        return 'http/1.1'
      }
      const connection = await Http2Connection.open(socket, origin, clock, tasks.signal)
      if (generation !== this.#generation) {
        connection.destroy('all connections were closed')
        return 'too late'
      }
      this.#connections.add(connection)
      tasks.run('connection to the API server', async (signal) => {
        try {
          await connection.run(signal)
        } finally {
          this.#connections.delete(connection)
        }
      })
      return 'h2'
    } finally {
      if (generation === this.#generation) this.#opening = undefined
    }
  }
}
