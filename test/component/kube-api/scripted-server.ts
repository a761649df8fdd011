import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { createServer as createTcpServer, connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { selfSigned } from '../../fixtures/self-signed.ts'

/** A request as the server received it. */
export interface SeenRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
  readonly session: ServerHttp2Session
}

export type Answer = (stream: ServerHttp2Stream, request: SeenRequest) => void

/** A server that answers as a test says, over HTTP/2 and TLS with a certificate for "nobody.test". */
export class ScriptedServer {
  readonly seen: SeenRequest[] = []
  readonly sessions = new Set<ServerHttp2Session>()
  /** Whose certificate each connection showed. */
  readonly subjects: (string | undefined)[] = []
  /** How many connections there ever were. */
  connections = 0
  pings = 0
  /** Taken one after another; without one the answer is an empty object. */
  readonly answers: Answer[] = []
  readonly #server: Http2SecureServer
  port = 0

  constructor(options: { readonly maxStreams?: number }) {
    this.#server = createSecureServer({
      ...selfSigned,
      requestCert: true,
      rejectUnauthorized: false,
      settings: { maxConcurrentStreams: options.maxStreams ?? 100 },
    })
    this.#server.on('session', (session) => {
      this.connections += 1
      this.subjects.push((session.socket as TLSSocket).getPeerX509Certificate()?.subject)
      this.sessions.add(session)
      session.on('ping', () => (this.pings += 1))
      session.on('error', () => {})
      session.once('close', () => this.sessions.delete(session))
    })
    this.#server.on('stream', (stream: ServerHttp2Stream, headers) => void this.#handle(stream, headers))
  }

  async listen(t: TestContext): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    t.after(() => {
      for (const session of this.sessions) session.destroy()
      this.#server.close()
    })
  }

  /** Resolves when the client has had all that was sent to it, answers to its own pings too. */
  async exchangePing(): Promise<void> {
    for (const session of this.sessions) await new Promise<void>((resolve) => session.ping(() => resolve()))
  }

  async #handle(
    stream: ServerHttp2Stream,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): Promise<void> {
    stream.on('error', () => {})
    let body = ''
    for await (const chunk of stream) body += String(chunk)
    if (stream.session === undefined) return
    const seen = {
      method: String(headers[':method']),
      target: String(headers[':path']),
      headers,
      body,
      session: stream.session as ServerHttp2Session,
    }
    this.seen.push(seen)
    const answer = this.answers.shift() ?? json(200, OBJECT)
    answer(stream, seen)
  }
}

/** As little as an answer of the API may be. */
export const OBJECT = { kind: 'Node' }

/** An answer that is whole. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (stream) => {
    stream.respond({ ':status': status, 'content-type': 'application/json', ...headers })
    stream.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** The beginning of a watch, which stays open; its stream is given to the test. */
export function beginWatch(taken: (stream: ServerHttp2Stream) => void): Answer {
  return (stream) => {
    stream.respond({ ':status': 200 })
    taken(stream)
  }
}

/** A wire between client and server that can be cut without a word: packets are dropped from then on. */
export class Wire {
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  #isDead = false
  #isRefusing = false
  /** How many there ever were. */
  connections = 0
  port = 0

  constructor(target: () => number) {
    this.#server = createTcpServer((near) => {
      this.connections += 1
      if (this.#isRefusing) return void near.destroy()
      const far = connect(target(), '127.0.0.1')
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from)
        const isDead = () => this.#isDead
        from.on('data', (bytes) => isDead() || to.write(bytes))
        from.on('error', () => {})
        from.on('close', () => isDead() || to.destroy())
      }
    })
  }

  async listen(t: TestContext): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    t.after(() => {
      for (const socket of this.#sockets) socket.destroy()
      this.#server.close()
    })
  }

  cut(): void {
    this.#isDead = true
  }

  /** New connections are refused. */
  refuse(): void {
    this.#isRefusing = true
  }

  repair(): void {
    this.#isRefusing = false
    // What was cut stays dead, as after a changed route.
    for (const socket of this.#sockets) socket.removeAllListeners('data')
    this.#isDead = false
  }
}
