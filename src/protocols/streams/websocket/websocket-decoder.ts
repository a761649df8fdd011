import { FrameSplitter } from '../frame-splitter.ts'
import type { FrameHead, FramePiece } from '../frame-splitter.ts'

/** What a WebSocket carries. Messages come in pieces of any size, so that none needs memory. */
export type WebSocketEvent =
  | {
      readonly kind: 'data'
      readonly bytes: Buffer
      /** The first piece of its message. */
      readonly first: boolean
      /** The last one. */
      readonly last: boolean
    }
  | { readonly kind: 'ping' | 'pong' | 'close'; readonly bytes: Buffer }

/** The other side does not keep to RFC 6455. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError'
}

interface WebSocketHead extends FrameHead {
  readonly opcode: number
  readonly final: boolean
  readonly mask: Buffer | undefined
}

const CONTROL_KINDS: Readonly<Record<number, 'ping' | 'pong' | 'close'>> = { 8: 'close', 9: 'ping', 10: 'pong' }
const LONGEST_CONTROL = 125

/** Reads the frames of one side of a WebSocket from bytes in any portions. What clients send is masked, what servers send is not. */
export class WebSocketDecoder {
  readonly #masked: boolean
  readonly #splitter = new FrameSplitter((input) => this.#readHead(input))
  #inMessage = false

  constructor(options: { readonly masked: boolean }) {
    this.#masked = options.masked
  }

  /** The bytes are changed where they are masked. */
  decode(bytes: Buffer): WebSocketEvent[] {
    return Array.from(this.#splitter.push(bytes), (piece) => this.#toEvent(piece))
  }

  #readHead(input: Buffer): WebSocketHead | undefined {
    if (input.length < 2) return undefined
    const [first = 0, second = 0] = input
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const headBytes = 2 + lengthBytes + (this.#masked ? 4 : 0)
    const opcode = first & 0x0f
    const final = (first & 0x80) !== 0
    this.#check(opcode, { reserved: (first & 0x70) !== 0, final, short, masked: second >= 0x80 })
    if (input.length < headBytes) return undefined
    const length = lengthBytes === 2 ? input.readUInt16BE(2) : lengthBytes === 8 ? input.readBigUInt64BE(2) : short
    if (length > Number.MAX_SAFE_INTEGER) throw new WebSocketError('Cannot read a frame: its length is not possible')
    const mask = this.#masked ? Buffer.from(input.subarray(headBytes - 4, headBytes)) : undefined
    return { headBytes, length: Number(length), isWhole: opcode >= 8, opcode, final, mask }
  }

  #check(
    opcode: number,
    { reserved, final, short, masked }: { reserved: boolean; final: boolean; short: number; masked: boolean },
  ): void {
    const control = opcode >= 8
    if (reserved || (control ? CONTROL_KINDS[opcode] === undefined : opcode > 2))
      throw new WebSocketError(`Cannot read a frame: opcode ${opcode} or its flags are not known`)
    if (masked !== this.#masked)
      throw new WebSocketError(`Cannot read a frame: expected it ${this.#masked ? '' : 'not '}masked`)
    if (control && (!final || short > LONGEST_CONTROL))
      throw new WebSocketError('Cannot read a control frame: it is too long')
    if (!control && (opcode === 0) !== this.#inMessage)
      throw new WebSocketError('Cannot read a frame: it is not the part of a message that is due')
  }

  #toEvent({ head: { opcode, final, mask }, bytes, offset, isLast }: FramePiece<WebSocketHead>): WebSocketEvent {
    unmask(bytes, mask, offset)
    const kind = CONTROL_KINDS[opcode]
    if (kind !== undefined) return { kind, bytes }
    const last = isLast && final
    this.#inMessage = !last
    return { kind: 'data', bytes, first: opcode !== 0 && offset === 0, last }
  }
}

function unmask(bytes: Buffer, mask: Buffer | undefined, offset: number): void {
  if (mask === undefined) return
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (bytes[at] ?? 0) ^ (mask[(offset + at) & 3] ?? 0)
}
