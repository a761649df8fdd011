import type { ClientRequest, ClientRequestArgs, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Agent, request } from '../../../base/builtin/http.ts'
import { BrokenConnectionError } from './transport.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

export interface Http1Deps {
  /** Fails with a BrokenConnectionError. */
  readonly connect: () => Promise<Socket>
}

type Taker = (error: Error | null, socket: Duplex) => void

/** Connections that carry one request at a time, kept for the next one. A watch has one for itself. */
export class Http1Connections {
  readonly #agent: Agent
  readonly #sockets = new Set<Socket>()
  readonly #unused: Socket[] = []

  constructor({ connect }: Http1Deps) {
    const take = async (): Promise<Socket> => {
      for (let socket = this.#unused.pop(); socket !== undefined; socket = this.#unused.pop()) {
        if (!socket.destroyed) return socket
      }
      const socket = await connect()
      this.#own(socket)
      return socket
    }
    this.#agent = new (class extends Agent {
      override createConnection(_options: ClientRequestArgs, taker?: Taker): null {
        take().then(
          (socket) => taker?.(null, socket),
          // The type wants a socket where there is none.
          (error: Error) => (taker as ((error: Error) => void) | undefined)?.(error),
        )
        return null
      }
    })({ keepAlive: true })
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Takes over a connection that was made before it was known what the server speaks. */
  adopt(socket: Socket): void {
    this.#own(socket)
    this.#unused.push(socket)
  }

  destroyAll(why: string): void {
    for (const socket of this.#sockets) socket.destroy(new Error(why))
    this.#unused.length = 0
  }

  async request(
    outgoing: TransportRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    signal.throwIfAborted()
    const { method, target, body } = outgoing
    // Said here: without it Node would send the body of a DELETE as if it were the next request.
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const sent = request({ method, path: target, headers: { ...headers, ...length }, agent: this.#agent, signal })
    try {
      const answered = this.#answerOf(sent)
      sent.end(body)
      const answer = await answered
      return {
        status: answer.statusCode ?? 0,
        retryAfter: answer.headers['retry-after'],
        body: this.#read(answer, outgoing, signal),
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : this.#toError(outgoing, error)
    }
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #answerOf(sent: ClientRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      sent.once('response', resolve)
      // More than once: a request may fail again while it goes.
      sent.on('error', reject)
    })
  }

  async *#read(answer: IncomingMessage, outgoing: TransportRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* answer as AsyncIterable<Uint8Array>
    } catch (error) {
      throw signal.aborted ? signal.reason : this.#toError(outgoing, error)
    }
    if (signal.aborted) throw signal.reason
    if (!answer.complete) throw this.#toError(outgoing, undefined)
  }

  #toError({ method, target }: TransportRequest, error: unknown): Error {
    if (error instanceof BrokenConnectionError) return error
    const why = Error.isError(error) ? error.message : 'the answer is not complete'
    const path = target.split('?')[0] ?? ''
    return new BrokenConnectionError(`Cannot ${method} "${path}" on this connection: ${why}`, 'sent', { cause: error })
  }
}
