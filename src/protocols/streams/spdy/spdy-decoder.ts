import { FrameSplitter } from '../frame-splitter.ts'
import type { FrameHead } from '../frame-splitter.ts'

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

interface SpdyHead extends FrameHead {
  /** The stream of a data frame, or the type of a control frame. */
  readonly id: number
  readonly flags: number
}

const HEAD_BYTES = 8
const CONTROL_BIT = 0x8000
const VERSION = 3
// Headers of a stream are a few words.
const LONGEST_CONTROL = 64 * 1024

/** Reads the frames of one side of a SPDY/3.1 connection from bytes in any portions. */
export class SpdyDecoder {
  readonly #splitter = new FrameSplitter(readHead)

  decode(bytes: Buffer): SpdyEvent[] {
    return Array.from(this.#splitter.push(bytes), ({ head: { id, flags, isWhole }, bytes: content, isLast }) =>
      isWhole
        ? { kind: 'control', type: id, flags, content }
        : { kind: 'data', stream: id, bytes: content, fin: isLast && (flags & 1) !== 0 },
    )
  }
}

function readHead(input: Buffer): SpdyHead | undefined {
  if (input.length < HEAD_BYTES) return undefined
  const isControl = (input.readUInt16BE() & CONTROL_BIT) !== 0
  const length = input.readUIntBE(5, 3)
  if (isControl && (input.readUInt16BE() & ~CONTROL_BIT) !== VERSION)
    throw new SpdyError('Cannot read a frame: expected version 3 of SPDY')
  if (isControl && length > LONGEST_CONTROL) throw new SpdyError('Cannot read a control frame: it is too long')
  const id = isControl ? input.readUInt16BE(2) : input.readUInt32BE()
  return { headBytes: HEAD_BYTES, length, isWhole: isControl, id, flags: input.readUInt8(4) }
}
