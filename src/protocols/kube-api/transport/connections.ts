import type { Socket } from 'node:net'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { Http1Connections } from './http1-connections.ts'
import { Http2Connections } from './http2-connections.ts'
import { RetiredConnectionError } from './transport.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

export interface ConnectionsDeps {
  readonly server: URL
  readonly isHttp1Only: boolean
  /** Fails with a BrokenConnectionError. */
  readonly connect: (protocols: readonly ('h2' | 'http/1.1')[]) => Promise<Socket>
  /** Connections live in it and end with it. */
  readonly tasks: Pick<TaskGroup, 'run' | 'signal'>
  readonly clock: Clock
}

// By then a watch is old enough that its end is no sign of a server that ends all of them at once.
const WATCHES_END_MS = 2000
const ALL_END_MS = 10_000

/** The connections to one API server that were made with the same certificate. */
export class Connections {
  readonly #deps: ConnectionsDeps
  readonly #http1: Http1Connections
  readonly #http2: Http2Connections
  /** Requests and their answers, as long as those are read. */
  readonly #running = new Set<{ readonly scope: AbortScope; readonly isWatch: boolean }>()
  #onIdle: (() => void) | undefined

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps
    const { server, connect, tasks, clock } = deps
    this.#http1 = new Http1Connections({ connect: () => connect(['http/1.1']) })
    this.#http2 = new Http2Connections({
      origin: server.origin,
      connect: () => connect(['h2', 'http/1.1']),
      onHttp1: (socket) => this.#http1.adopt(socket),
      tasks,
      clock,
    })
  }

  /** As Transport.request() says. */
  async request(
    request: TransportRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    const running = { scope: new AbortScope(signal), isWatch: request.isWatch }
    const end = () => {
      running.scope[Symbol.dispose]()
      this.#running.delete(running)
      if (this.#running.size === 0) this.#onIdle?.()
    }
    this.#running.add(running)
    try {
      const response = await this.#send(request, headers, running.scope.signal)
      return { ...response, body: readToEnd(response.body, end) }
    } catch (error) {
      end()
      throw error
    }
  }

  /** For connections that get no new requests: what is under way ends by itself, or is ended. */
  async retire(why: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    using scope = new AbortScope(signal)
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve))
    try {
      if (this.#running.size === 0) return
      await Promise.race([idle, clock.sleep(WATCHES_END_MS, scope.signal)])
      for (const running of this.#running) {
        if (running.isWatch) running.scope.abort(new RetiredConnectionError(`Cannot watch any longer: ${why}`))
      }
      await Promise.race([idle, clock.sleep(ALL_END_MS - WATCHES_END_MS, scope.signal)])
    } finally {
      this.destroyAll(why)
    }
  }

  destroyAll(why: string): void {
    this.#http1.destroyAll(why)
    this.#http2.destroyAll(why)
  }

  async #send(
    request: TransportRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    // As long as there is a connection to a server that speaks HTTP/1.1, it is not asked again.
    if (!this.#deps.isHttp1Only && this.#http1.size === 0) {
      const connection = await this.#http2.acquire(signal)
      if (connection !== undefined) return await connection.request(request, headers, signal)
    }
    return await this.#http1.request(request, { ...headers, host: this.#deps.server.host }, signal)
  }
}

async function* readToEnd(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } finally {
    end()
  }
}
