import { once } from 'node:events'
import { connect, constants, createServer } from 'node:http2'
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  Http2Server,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What happens to a call on its way. */
export type RuntimeFault =
  /** It never gets there and is never answered. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** It is done, and the connection breaks before the answer. */
  | { readonly kind: 'lose reply' }
  /** The answer is another one. */
  | { readonly kind: 'alter'; readonly alter: (message: Uint8Array) => Uint8Array }
  /** The answer ends in the middle of its message, as if that were all. */
  | { readonly kind: 'cut' }
  /** Something is done while it is under way. */
  | { readonly kind: 'act'; readonly afterMs: number; readonly act: () => void }

interface Rule {
  readonly fault: RuntimeFault
  times: number
}

const PREFIX_BYTES = 5
// A runtime has no such limit. With Node's own, a call beside a large answer that waits to be read would be refused.
const MAX_SESSION_MEGABYTES = 1024
const PASS: RuntimeFault = { kind: 'delay', ms: 0 }

/** Stands between an agent and its runtime: passes every call of gRPC on, and breaks those that it is asked to. */
export class RuntimeProxy implements AsyncDisposable {
  readonly socket: string
  readonly #upstream: string
  readonly #server: Http2Server
  readonly #rules = new Map<string, Rule>()
  readonly #counts = new Map<string, number>()
  readonly #sessions = new Map<ServerHttp2Session, ClientHttp2Session>()

  static async start(socket: string, upstream: string): Promise<RuntimeProxy> {
    const proxy = new RuntimeProxy(socket, upstream)
    proxy.#server.listen(socket)
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(socket: string, upstream: string) {
    this.socket = socket
    this.#upstream = upstream
    this.#server = createServer({ maxSessionMemory: MAX_SESSION_MEGABYTES, settings: { initialWindowSize: 1024 ** 2 } })
    this.#server.on('session', (session) => this.#pair(session))
    this.#server.on('stream', (stream: ServerHttp2Stream, headers) => void this.#pass(stream, headers))
  }

  get endpoint(): string {
    return `unix://${this.socket}`
  }

  /** The next calls of a method, such as "ListContainers", break in this way: so many of them, or all until heal(). */
  break(method: string, fault: RuntimeFault, times = Infinity): void {
    this.#rules.set(method, { fault, times })
  }

  /** Everything is passed on again. */
  heal(): void {
    this.#rules.clear()
  }

  /** How many calls of a method there were. */
  count(method: string): number {
    return this.#counts.get(method) ?? 0
  }

  /** Breaks all connections; the next ones are taken at once. */
  dropConnections(): void {
    for (const session of this.#sessions.keys()) session.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropConnections()
    this.#server.close()
  }

  /** Each connection of the agent has one to the runtime of its own: when one ends, so does the other. */
  #pair(session: ServerHttp2Session): void {
    const far = connect('http://localhost', {
      maxSessionMemory: MAX_SESSION_MEGABYTES,
      createConnection: () => connectSocket(this.#upstream),
    })
    this.#sessions.set(session, far)
    far.on('error', () => session.destroy())
    far.once('close', () => session.destroy())
    session.on('error', () => {})
    session.once('close', () => {
      this.#sessions.delete(session)
      far.destroy()
    })
  }

  #take(path: string): RuntimeFault {
    const method = path.slice(path.lastIndexOf('/') + 1)
    this.#counts.set(method, this.count(method) + 1)
    const rule = this.#rules.get(method)
    if (rule === undefined || rule.times <= 0) return PASS
    rule.times -= 1
    return rule.fault
  }

  async #pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    stream.on('error', () => {})
    const fault = this.#take(headers[':path'] ?? '')
    if (fault.kind === 'hang') return
    if (fault.kind === 'delay' && fault.ms > 0) await sleep(fault.ms)
    if (fault.kind === 'act') setTimeout(fault.act, fault.afterMs)
    const session = stream.session as ServerHttp2Session | undefined
    const far = session && this.#sessions.get(session)
    if (session === undefined || far === undefined || far.destroyed || stream.destroyed) return void stream.destroy()
    const up = far.request(headers)
    up.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    stream.once('close', () => up.close(constants.NGHTTP2_CANCEL))
    stream.pipe(up)
    if (fault.kind === 'lose reply') up.resume().once('end', () => session.destroy())
    else if (fault.kind === 'alter' || fault.kind === 'cut') void answerOtherwise(stream, up, fault)
    else answer(stream, up)
  }
}

/** Gives the answer as it is, in the pace in which it comes. */
function answer(stream: ServerHttp2Stream, up: ClientHttp2Stream): void {
  let trailers: IncomingHttpHeaders = {}
  up.on('trailers', (headers) => (trailers = headers))
  up.once('response', (headers, flags) => {
    if (stream.destroyed) return
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) return stream.respond(headers, { endStream: true })
    stream.once('wantTrailers', () => stream.sendTrailers(trailers))
    stream.respond(headers, { waitForTrailers: true })
    up.on('data', (chunk: Buffer) => stream.write(chunk))
    up.once('end', () => stream.end())
  })
}

/** Waits for the whole answer and gives another one. */
async function answerOtherwise(
  stream: ServerHttp2Stream,
  up: ClientHttp2Stream,
  fault: Extract<RuntimeFault, { kind: 'alter' | 'cut' }>,
): Promise<void> {
  const chunks: Buffer[] = []
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  up.once('response', (response) => (headers = response))
  up.once('trailers', (last) => (trailers = last))
  up.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(up, 'end').catch(() => {})
  if (stream.destroyed) return
  const whole = Buffer.concat(chunks)
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.respond(headers, { waitForTrailers: true })
  stream.end(
    fault.kind === 'cut' ? whole.subarray(0, whole.length / 2) : frame(fault.alter(whole.subarray(PREFIX_BYTES))),
  )
}

/** A message as gRPC sends it: not compressed, with its length. */
function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(PREFIX_BYTES + message.length)
  framed.writeUInt32BE(message.length, 1)
  framed.set(message, PREFIX_BYTES)
  return framed
}
