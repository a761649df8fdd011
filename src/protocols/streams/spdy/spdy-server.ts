import { PassThrough } from 'node:stream'
import type { Duplex } from 'node:stream'
import { readChunks } from '../read-chunks.ts'
import { writeBytes } from '../write-bytes.ts'
import {
  encodeSynReply,
  encodeDataHead,
  encodePing,
  encodeRstStream,
  encodeWindowUpdate,
  SPDY_FIN,
  SPDY_TYPES,
} from './spdy-frames.ts'
import { SpdyHeaderReader } from './read-spdy-headers.ts'
import { SpdyDecoder } from './spdy-decoder.ts'
import type { SpdyEvent } from './spdy-decoder.ts'

/** A stream that a client opened. */
export interface SpdyServerStream {
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** What the client sends on it. */
  readonly input: AsyncIterable<Buffer>
  write(bytes: Uint8Array): Promise<void>
  /** Ends our direction. */
  finish(): Promise<void>
}

const INITIAL_WINDOW = 64 * 1024
const LARGEST_WINDOW = 2 ** 31 - 1
const HEADERS_AT = 10
const CANCEL = 5
const MOST_STREAMS = 1024

/**
 * The server's side of a SPDY/3.1 connection: clients open all streams. As with every server of remote commands, windows are not kept to: a side
 * that does not read is left to TCP.
 */
export class SpdyServer implements Disposable {
  readonly #connection: Duplex
  readonly #head: Buffer
  readonly #headers = new SpdyHeaderReader()
  readonly #inputs = new Map<number, PassThrough>()
  #accepted = 0

  constructor(connection: Duplex, head: Buffer) {
    this.#connection = connection
    this.#head = head
    connection.on('error', () => {})
  }

  /** Each stream when it is opened, until the client closes the connection. Has to be read to the end: it drives all streams. */
  async *streams(): AsyncGenerator<SpdyServerStream, void> {
    const decoder = new SpdyDecoder()
    try {
      for await (const chunk of this.#chunks()) {
        for (const event of decoder.decode(chunk)) {
          const opened = await this.#handle(event)
          if (opened !== undefined) yield opened
        }
      }
    } finally {
      // What the client has not ended is over with the connection.
      for (const input of this.#inputs.values()) input.destroy()
      this.#inputs.clear()
    }
  }

  [Symbol.dispose](): void {
    this.#headers[Symbol.dispose]()
  }

  async *#chunks(): AsyncGenerator<Buffer, void> {
    if (this.#head.length > 0) yield this.#head
    yield* readChunks(this.#connection)
  }

  async #handle(event: SpdyEvent): Promise<SpdyServerStream | undefined> {
    if (event.kind === 'data') {
      await this.#receive(event)
      return undefined
    }
    const { type, flags, content } = event
    const id = content.length >= 4 ? content.readUInt32BE() & 0x7fffffff : 0
    if (type === SPDY_TYPES.synStream) return await this.#accept(id, flags, content)
    // Even ones are answers to ours, and we send none.
    if (type === SPDY_TYPES.ping && id % 2 === 1) await this.#send(encodePing(id))
    else if (type === SPDY_TYPES.rstStream) this.#end(id)
    return undefined
  }

  async #accept(id: number, flags: number, content: Buffer): Promise<SpdyServerStream | undefined> {
    // Also of a stream that is refused: the headers of the next one are compressed with these.
    const headers = await this.#headers.read(content.subarray(HEADERS_AT))
    if (this.#inputs.size >= MOST_STREAMS) {
      await this.#send(encodeRstStream(id, CANCEL))
      return undefined
    }
    const isFirst = this.#accepted === 0
    this.#accepted += 1
    const input = new PassThrough()
    input.on('error', () => {})
    this.#inputs.set(id, input)
    if ((flags & SPDY_FIN) !== 0) this.#end(id)
    const windows = [...(isFirst ? [0] : []), id].map((at) => encodeWindowUpdate(at, LARGEST_WINDOW - INITIAL_WINDOW))
    await this.#send(encodeSynReply(id, isFirst), ...windows)
    return {
      headers,
      input: readChunks(input),
      write: async (bytes) => {
        if (bytes.length > 0) await writeBytes(this.#connection, encodeDataHead(id, bytes.length), bytes)
      },
      finish: () => this.#send(encodeDataHead(id, 0, SPDY_FIN)),
    }
  }

  /** The connection is read no faster than its streams are. */
  async #receive({ stream, bytes, fin }: Extract<SpdyEvent, { kind: 'data' }>): Promise<void> {
    const input = this.#inputs.get(stream)
    if (input === undefined) return
    // A copy: the bytes are those of a buffer that is used again. Who does not listen any more misses it.
    if (bytes.length > 0) await writeBytes(input, Buffer.from(bytes)).catch(() => {})
    if (fin) this.#end(stream)
  }

  #end(stream: number): void {
    this.#inputs.get(stream)?.end()
    this.#inputs.delete(stream)
  }

  async #send(...frames: readonly Buffer[]): Promise<void> {
    await writeBytes(this.#connection, ...frames)
  }
}
