import type { Socket } from 'node:net'
import type { Clock } from '../../../base/async/clock.ts'
import type { ClientConnections } from '../../../protocols/streams/client-connections.ts'

export interface DnsConnectionDeps {
  readonly clock: Clock
  /** A connection is kept while a question of it is being answered. */
  readonly connections: Pick<ClientConnections, 'keep'>
  /** Never rejects; there are questions without an answer. */
  readonly reply: (question: Buffer, send: (answer: Buffer) => void) => Promise<void>
}

// How long nothing may come or go.
const IDLE_MS = 10_000
// From the first byte of a question to its last, however they come.
const QUESTION_MS = 5000
// Questions of one connection that are being answered; more wait. Clients send a few at once, and some megabytes of answers nobody reads do no harm.
const MOST_OPEN = 16
const HEAD_BYTES = 2

/** Questions with their length before them, any number on one connection. */
export class DnsConnection {
  readonly #socket: Socket
  readonly #deps: DnsConnectionDeps
  #got: Buffer = Buffer.alloc(0)
  /** When the first byte of a question came that is not complete. */
  #begunAt: number | undefined
  #open = 0

  constructor(socket: Socket, deps: DnsConnectionDeps) {
    this.#socket = socket
    this.#deps = deps
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('drain', () => this.#takeQuestions())
    socket.on('data', (chunk: Buffer) => {
      this.#got = Buffer.concat([this.#got, chunk])
      this.#takeQuestions()
    })
  }

  #takeQuestions(): void {
    while (!this.#isFull && !this.#socket.destroyed) {
      const question = this.#nextQuestion()
      if (question === undefined) break
      void this.#answer(question)
    }
    // A client that does not read its answers gets no more of them.
    if (this.#isFull) this.#socket.pause()
    else this.#socket.resume()
  }

  get #isFull(): boolean {
    return this.#open >= MOST_OPEN || this.#socket.writableNeedDrain
  }

  #nextQuestion(): Buffer | undefined {
    const got = this.#got
    const end = got.length < HEAD_BYTES ? Number.POSITIVE_INFINITY : HEAD_BYTES + got.readUInt16BE(0)
    if (got.length < end) {
      this.#checkDeadline()
      return undefined
    }
    this.#begunAt = undefined
    this.#got = got.subarray(end)
    return got.subarray(HEAD_BYTES, end)
  }

  /** With each byte: without any the connection is idle. */
  #checkDeadline(): void {
    if (this.#got.length === 0) return
    const now = this.#deps.clock.monotonic()
    this.#begunAt ??= now
    if (now - this.#begunAt > QUESTION_MS) this.#socket.destroy()
  }

  async #answer(question: Buffer): Promise<void> {
    const { connections, reply } = this.#deps
    this.#open++
    const release = connections.keep(this.#socket)
    await reply(question, (answer) => {
      const head = Buffer.alloc(HEAD_BYTES)
      head.writeUInt16BE(answer.length)
      this.#socket.write(Buffer.concat([head, answer]))
    })
    release()
    this.#open--
    this.#takeQuestions()
  }
}
