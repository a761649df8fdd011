import type { Duplex } from 'node:stream'
import { readChunks } from '../read-chunks.ts'
import { SpdyDecoder, SpdyError } from './spdy-decoder.ts'
import type { SpdyEvent } from './spdy-decoder.ts'
import {
  encodeDataHead,
  encodePing,
  encodeRstStream,
  encodeSynStream,
  encodeWindowUpdate,
  SPDY_FIN,
  SPDY_TYPES,
} from './spdy-frames.ts'
import { writeBytes } from '../write-bytes.ts'

/** What happens on the streams that we opened. A stream is over when the server sends no more on it. */
export type SpdyStreamEvent =
  | { readonly kind: 'accepted'; readonly stream: number }
  | { readonly kind: 'over'; readonly stream: number }
  | { readonly kind: 'data'; readonly stream: number; readonly bytes: Buffer }

const REFUSED_STREAM = 3
// The largest window there is, in place of the 64 KiB of the beginning: a side that does not read is left to TCP, and a server that is about to close
// gets nothing from us that would make it throw away what it has sent.
const INITIAL_WINDOW = 64 * 1024
const LARGEST_WINDOW = 2 ** 31 - 1
const ACKNOWLEDGED_BYTES = 2 ** 30

/**
 * The client's side of a SPDY/3.1 connection, as far as remote commands need it: we open all streams. The server's windows are not kept to: the
 * one that all runtimes use never opens them, and lets TCP hold us back.
 */
export class SpdyClient {
  readonly #connection: Duplex
  readonly #decoder = new SpdyDecoder()
  /** What was received and not yet acknowledged; 0 is all streams together. */
  readonly #received = new Map<number, number>()
  #lastStream = -1

  constructor(connection: Duplex) {
    this.#connection = connection
  }

  /** Opens a stream; data may be sent on it when it is accepted. */
  async open(headers: Readonly<Record<string, string>>): Promise<number> {
    const first = this.#lastStream === -1
    this.#lastStream += 2
    const stream = this.#lastStream
    const windows = [...(first ? [0] : []), stream].map((id) => encodeWindowUpdate(id, LARGEST_WINDOW - INITIAL_WINDOW))
    await writeBytes(this.#connection, encodeSynStream(stream, headers, first), ...windows)
    return stream
  }

  async send(stream: number, bytes: Uint8Array): Promise<void> {
    await writeBytes(this.#connection, encodeDataHead(stream, bytes.length), bytes)
  }

  /** Ends our direction of a stream. */
  async finish(stream: number): Promise<void> {
    await writeBytes(this.#connection, encodeDataHead(stream, 0, SPDY_FIN))
  }

  /** Until the server closes the connection. */
  async *events(): AsyncGenerator<SpdyStreamEvent, void> {
    for await (const chunk of readChunks(this.#connection)) {
      for (const event of this.#decoder.decode(chunk)) {
        if (event.kind === 'control') yield* this.#handleControl(event)
        else yield* this.#handleData(event)
      }
    }
  }

  *#handleData({ stream, bytes, fin }: Extract<SpdyEvent, { kind: 'data' }>): Generator<SpdyStreamEvent, void> {
    if (bytes.length > 0) yield { kind: 'data', stream, bytes }
    // Only now: what the reader has not taken must not be followed by more.
    this.#acknowledge(0, bytes.length)
    if (fin) yield { kind: 'over', stream }
    else this.#acknowledge(stream, bytes.length)
  }

  *#handleControl({ type, content }: Extract<SpdyEvent, { kind: 'control' }>): Generator<SpdyStreamEvent, void> {
    const id = content.length >= 4 ? content.readUInt32BE() & 0x7fffffff : 0
    if (type === SPDY_TYPES.synReply) yield { kind: 'accepted', stream: id }
    else if (type === SPDY_TYPES.rstStream) yield { kind: 'over', stream: id }
    else if (type === SPDY_TYPES.synStream) this.#answer(encodeRstStream(id, REFUSED_STREAM))
    // Odd ones are answers to ours, and we send none.
    else if (type === SPDY_TYPES.ping && id % 2 === 0) this.#answer(encodePing(id))
    else if (type === SPDY_TYPES.ping && content.length !== 4)
      throw new SpdyError('Cannot read a ping: it has no number')
  }

  #acknowledge(stream: number, count: number): void {
    const received = (this.#received.get(stream) ?? 0) + count
    if (received >= ACKNOWLEDGED_BYTES) this.#answer(encodeWindowUpdate(stream, received))
    this.#received.set(stream, received >= ACKNOWLEDGED_BYTES ? 0 : received)
  }

  /** A few bytes, for at least as many received. They wait for nothing: who reads must not be held up by a server that does not. */
  #answer(frame: Buffer): void {
    if (!this.#connection.destroyed && !this.#connection.writableEnded) this.#connection.write(frame)
  }
}
