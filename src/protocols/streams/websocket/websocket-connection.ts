import type { Duplex } from 'node:stream'
import { readChunks } from '../read-chunks.ts'
import { WebSocketDecoder, WebSocketError } from './websocket-decoder.ts'
import type { WebSocketEvent } from './websocket-decoder.ts'
import { writeBytes } from '../write-bytes.ts'

/** What a frame of ours may be: we send whole messages only. */
export const WEBSOCKET_OPCODES = { binary: 2, close: 8, ping: 9, pong: 10 } as const

type DataPiece = Extract<WebSocketEvent, { kind: 'data' }>

/** Why a WebSocket is closed. */
export const CLOSE_CODES = { normal: 1000, leaving: 1001, protocolError: 1002, tooLarge: 1009 } as const

/** The server's side of a WebSocket that is open: messages in pieces, and messages out, never more than the other side takes. */
export class WebSocketConnection {
  readonly socket: Duplex
  readonly #head: Buffer
  #closing = false

  constructor(socket: Duplex, head: Buffer) {
    this.socket = socket
    this.#head = head
  }

  /** What the client sends, until it closes. Pings are answered; what is not WebSocket closes the connection. */
  async *pieces(): AsyncGenerator<DataPiece, void> {
    const decoder = new WebSocketDecoder({ masked: true })
    try {
      for await (const chunk of this.#chunks()) {
        for (const event of decoder.decode(chunk)) {
          if (event.kind === 'data') yield event
          else if (event.kind === 'ping') await this.#send('pong', event.bytes)
          else if (event.kind === 'close') return this.close('normal')
        }
      }
    } catch (error) {
      if (error instanceof WebSocketError) this.close('protocolError')
      throw error
    }
  }

  /** One message of these parts. */
  async send(...parts: readonly Uint8Array[]): Promise<void> {
    await this.#send('binary', ...parts)
  }

  /** Shows a client that has not heard from us for long that we are there; the protocol allows it unasked. */
  async pong(): Promise<void> {
    await this.#send('pong')
  }

  /** Says that nothing follows. */
  close(why: keyof typeof CLOSE_CODES): void {
    if (this.#closing || this.socket.destroyed || this.socket.writableEnded) return
    this.#closing = true
    const code = Buffer.alloc(2)
    code.writeUInt16BE(CLOSE_CODES[why])
    this.socket.end(Buffer.concat([encodeWebSocketHead('close', code.length), code]))
  }

  async #send(kind: keyof typeof WEBSOCKET_OPCODES, ...parts: readonly Uint8Array[]): Promise<void> {
    if (this.#closing) return
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    await writeBytes(this.socket, encodeWebSocketHead(kind, length), ...parts)
  }

  async *#chunks(): AsyncGenerator<Buffer, void> {
    if (this.#head.length > 0) yield Buffer.from(this.#head)
    yield* readChunks(this.socket)
  }
}

/** The head of a frame; its content follows, masked with the mask where one is given. */
export function encodeWebSocketHead(
  kind: keyof typeof WEBSOCKET_OPCODES,
  length: number,
  mask: Uint8Array = new Uint8Array(),
): Buffer {
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const head = Buffer.alloc(2 + lengthBytes)
  head[0] = 0x80 | WEBSOCKET_OPCODES[kind]
  head[1] = (mask.length > 0 ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) head.writeUInt16BE(length, 2)
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, mask])
}
