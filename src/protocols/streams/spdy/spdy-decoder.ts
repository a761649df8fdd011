/** What comes over a SPDY connection. Data come in pieces of any size, so that no frame needs memory. */
export type SpdyEvent =
  | {
      readonly kind: 'data'
      readonly stream: number
      readonly bytes: Buffer
      /** The last piece of a frame with the flag FIN. */
      readonly fin: boolean
    }
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly content: Buffer }

/** The other side does not speak SPDY/3.1. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError'
}

interface Frame {
  readonly control: boolean
  /** The stream of a data frame, or the type of a control frame. */
  readonly id: number
  readonly flags: number
  readonly length: number
}

const HEAD_BYTES = 8
const CONTROL_BIT = 0x8000
const VERSION = 3
// Headers of a stream are a few words.
const LONGEST_CONTROL = 64 * 1024
const NOTHING = Buffer.alloc(0)

/** Reads the frames of one side of a SPDY/3.1 connection from bytes in any portions. */
export class SpdyDecoder {
  #rest: Buffer = NOTHING
  #frame: Frame | undefined
  #done = 0

  decode(bytes: Buffer): SpdyEvent[] {
    const events: SpdyEvent[] = []
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    this.#rest = NOTHING
    for (;;) {
      const left = this.#frame === undefined ? this.#readHead(input) : this.#readContent(this.#frame, input, events)
      if (left === undefined) {
        this.#rest = Buffer.from(input)
        return events
      }
      input = left
    }
  }

  /** Undefined when more bytes are needed; else what follows. */
  #readHead(input: Buffer): Buffer | undefined {
    if (input.length < HEAD_BYTES) return undefined
    const control = (input.readUInt16BE() & CONTROL_BIT) !== 0
    const length = input.readUIntBE(5, 3)
    if (control && (input.readUInt16BE() & ~CONTROL_BIT) !== VERSION)
      throw new SpdyError('Cannot read a frame: expected version 3 of SPDY')
    if (control && length > LONGEST_CONTROL) throw new SpdyError('Cannot read a control frame: it is too long')
    this.#frame = {
      control,
      id: control ? input.readUInt16BE(2) : input.readUInt32BE(),
      flags: input.readUInt8(4),
      length,
    }
    this.#done = 0
    return input.subarray(HEAD_BYTES)
  }

  #readContent({ control, id, flags, length }: Frame, input: Buffer, events: SpdyEvent[]): Buffer | undefined {
    const missing = length - this.#done
    const enough = control ? input.length >= missing : input.length > 0 || missing === 0
    if (!enough) return undefined
    const bytes = input.subarray(0, missing)
    const complete = bytes.length === missing
    this.#done += bytes.length
    if (complete) this.#frame = undefined
    if (control) events.push({ kind: 'control', type: id, flags, content: bytes })
    else events.push({ kind: 'data', stream: id, bytes, fin: complete && (flags & 1) !== 0 })
    return input.subarray(bytes.length)
  }
}
