import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import { BrokenConnectionError } from './transport.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

// A connection whose packets are dropped is found after 30 s at the latest.
const PING_EVERY_MS = 20_000
const PING_ANSWER_MS = 10_000
const IDLE_ROUNDS = 5
const SETTINGS_MS = 10_000
// Room for a large object in one flight; what is not read yet stays below this for each stream.
const WINDOW_BYTES = 1024 * 1024
const MAX_SESSION_MEGABYTES = 64
// A server that names no limit still gets a new connection at some point.
const MOST_STREAMS = 250

/** One HTTP/2 connection with all that runs on it. */
export class Http2Connection {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #clock: Clock
  #streams = 0
  /** Since the last ping. */
  #wasUsed = false
  #failure: Error | undefined

  private constructor(session: ClientHttp2Session, socket: Socket, clock: Clock) {
    this.#session = session
    this.#socket = socket
    this.#clock = clock
  }

  /** Greets the server; from its answer on it is known how many requests it takes at once. */
  static async open(socket: Socket, origin: string, clock: Clock, signal: AbortSignal): Promise<Http2Connection> {
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      maxSessionMemory: MAX_SESSION_MEGABYTES,
    })
    // Each request on it gets the error for itself.
    session.on('error', () => {})
    const greeting = { clock, ms: SETTINGS_MS, what: 'the greeting of HTTP/2' }
    try {
      await withDeadline(greeting, (until) => once(session, 'remoteSettings', { signal: until }), signal)
    } catch (error) {
      session.destroy()
      if (signal.aborted) throw signal.reason
      throw new BrokenConnectionError(`Cannot speak HTTP/2 with "${origin}"`, 'connecting', { cause: error })
    }
    return new Http2Connection(session, socket, clock)
  }

  /** A server that is leaving answers what was asked and takes nothing new. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  get hasRoom(): boolean {
    const { maxConcurrentStreams = MOST_STREAMS } = this.#session.remoteSettings
    return this.isOpen && this.#streams < Math.min(maxConcurrentStreams, MOST_STREAMS)
  }

  /** Until it is closed: pings it, and ends it when it is silent or was not used for some time. */
  async run(signal: AbortSignal): Promise<void> {
    using scope = new AbortScope(signal)
    const session = this.#session
    session.once('close', () => scope.abort(new Error('The connection is closed')))
    try {
      for (let idle = 0; !session.destroyed;) {
        await this.#clock.sleep(PING_EVERY_MS, scope.signal)
        idle = this.#wasUsed || this.#streams > 0 ? 0 : idle + 1
        this.#wasUsed = false
        if (idle >= IDLE_ROUNDS) session.close()
        else await this.#ping(scope.signal)
      }
    } catch {
      if (!session.destroyed) this.destroy(signal.aborted ? 'the client ends' : 'it cannot be pinged')
    }
  }

  destroy(why: string): void {
    this.#failure ??= new Error(why)
    // Without an error its streams would end as if all had been said.
    this.#session.destroy(this.#failure, constants.NGHTTP2_CANCEL)
  }

  /** Keeps room for one request, which has to follow: no other request takes it in the meantime. */
  reserve(): void {
    this.#streams += 1
    this.#wasUsed = true
  }

  /** Only after reserve(). */
  async request(
    request: TransportRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    const stream = this.#begin(request, headers, signal)
    const abort = () => stream.close(constants.NGHTTP2_CANCEL)
    signal.addEventListener('abort', abort, { once: true })
    stream.once('close', () => signal.removeEventListener('abort', abort))
    try {
      const answer = await this.#answerOf(stream)
      const retryAfter = answer['retry-after']
      return { status: Number(answer[':status']), retryAfter, body: this.#read(stream, request, signal) }
    } catch (error) {
      throw signal.aborted ? signal.reason : this.#toError(request, stream, error)
    }
  }

  #begin(
    { method, target, body }: TransportRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): ClientHttp2Stream {
    const release = () => (this.#streams -= 1)
    let stream: ClientHttp2Stream
    try {
      signal.throwIfAborted()
      const head = { ...headers, ':method': method, ':path': target }
      stream = this.#session.request(head, { endStream: body === undefined })
    } catch (error) {
      release()
      if (signal.aborted) throw signal.reason
      const message = `Cannot ${method} "${pathOf(target)}": the connection has just ended`
      throw new BrokenConnectionError(message, 'refused', { cause: error })
    }
    stream.once('close', release)
    stream.on('error', () => {})
    if (body !== undefined) stream.end(body)
    return stream
  }

  #answerOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
    return new Promise((resolve, reject) => {
      stream.once('response', resolve)
      stream.once('error', reject)
      stream.once('close', () => reject(new Error('the stream was closed before an answer')))
    })
  }

  async *#read(stream: ClientHttp2Stream, request: TransportRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* stream as AsyncIterable<Uint8Array>
    } catch (error) {
      throw signal.aborted ? signal.reason : this.#toError(request, stream, error)
    }
    if (signal.aborted) throw signal.reason
    // A stream that was cut ends like any other, but for this.
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR || stream.aborted) throw this.#toError(request, stream, undefined)
  }

  #toError({ method, target }: TransportRequest, stream: ClientHttp2Stream, error: unknown): Error {
    if (error instanceof BrokenConnectionError) return error
    const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    const why = this.#failure?.message ?? (isRefused ? 'the server takes nothing new on it' : 'it broke')
    return new BrokenConnectionError(
      `Cannot ${method} "${pathOf(target)}" on this connection: ${why}`,
      isRefused ? 'refused' : 'sent',
      { cause: error },
    )
  }

  async #ping(signal: AbortSignal): Promise<void> {
    using scope = new AbortScope(signal)
    const { bytesRead } = this.#socket
    const answered = new Promise<boolean>((resolve) => {
      if (!this.#session.ping((error) => resolve(error === null))) resolve(false)
    })
    const late = this.#clock.sleep(PING_ANSWER_MS, scope.signal).then(() => false)
    const isAlive = await Promise.race([answered, late])
    // The answer may be stuck behind a large one.
    if (!isAlive && this.#socket.bytesRead === bytesRead) this.destroy('the server was silent for too long')
  }
}

function pathOf(target: string): string {
  return target.split('?')[0] ?? ''
}
