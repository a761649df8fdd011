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

interface Frame {
  readonly opcode: number
  readonly final: boolean
  readonly mask: Buffer | undefined
  readonly length: number
}

const CONTROL_KINDS: Readonly<Record<number, 'ping' | 'pong' | 'close'>> = { 8: 'close', 9: 'ping', 10: 'pong' }
const LONGEST_CONTROL = 125
const NOTHING = Buffer.alloc(0)

/** Reads the frames of one side of a WebSocket from bytes in any portions. What clients send is masked, what servers send is not. */
export class WebSocketDecoder {
  readonly #masked: boolean
  /** The beginning of a frame that is not complete, or of what a control frame carries. */
  #rest: Buffer = NOTHING
  #frame: Frame | undefined
  /** How much of the frame's content has come. */
  #done = 0
  #inMessage = false

  constructor(options: { readonly masked: boolean }) {
    this.#masked = options.masked
  }

  /** The bytes are changed where they are masked. */
  decode(bytes: Buffer): WebSocketEvent[] {
    const events: WebSocketEvent[] = []
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    this.#rest = NOTHING
    for (;;) {
      const left = this.#frame === undefined ? this.#readHead(input) : this.#readContent(this.#frame, input, events)
      if (left === undefined) {
        this.#rest = Buffer.from(input)
        return events
      }
      input = left
      if (input.length === 0 && this.#frame === undefined) return events
    }
  }

  /** Undefined when more bytes are needed; else what follows. */
  #readHead(input: Buffer): Buffer | undefined {
    if (input.length < 2) return undefined
    const [first = 0, second = 0] = input
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const headBytes = 2 + lengthBytes + (this.#masked ? 4 : 0)
    const opcode = first & 0x0f
    this.#check(opcode, { reserved: (first & 0x70) !== 0, final: (first & 0x80) !== 0, short, masked: second >= 0x80 })
    if (input.length < headBytes) return undefined
    const length = lengthBytes === 2 ? input.readUInt16BE(2) : lengthBytes === 8 ? input.readBigUInt64BE(2) : short
    if (length > Number.MAX_SAFE_INTEGER) throw new WebSocketError('Cannot read a frame: its length is not possible')
    const mask = this.#masked ? Buffer.from(input.subarray(headBytes - 4, headBytes)) : undefined
    this.#frame = { opcode, final: (first & 0x80) !== 0, mask, length: Number(length) }
    this.#done = 0
    return input.subarray(headBytes)
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

  #readContent(frame: Frame, input: Buffer, events: WebSocketEvent[]): Buffer | undefined {
    const kind = CONTROL_KINDS[frame.opcode]
    const missing = frame.length - this.#done
    if (kind !== undefined && input.length < missing) return undefined
    const bytes = input.subarray(0, missing)
    const complete = bytes.length === missing
    // Nothing to tell yet.
    if (bytes.length === 0 && !complete) return undefined
    unmask(bytes, frame.mask, this.#done)
    const first = frame.opcode !== 0 && this.#done === 0
    this.#done += bytes.length
    if (complete) this.#frame = undefined
    if (kind === undefined) {
      this.#inMessage = !(complete && frame.final)
      events.push({ kind: 'data', bytes, first, last: complete && frame.final })
    } else events.push({ kind, bytes })
    return input.subarray(bytes.length)
  }
}

function unmask(bytes: Buffer, mask: Buffer | undefined, offset: number): void {
  if (mask === undefined) return
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (bytes[at] ?? 0) ^ (mask[(offset + at) & 3] ?? 0)
}
