/** A frame of HTTP/2 (RFC 9113, section 4.1), with all of its bytes. */
export interface Http2Frame {
  readonly type: number
  readonly stream: number
  readonly bytes: Buffer
}

export const DATA = 0
const RST_STREAM = 3
const GOAWAY = 7
const HEADER_BYTES = 9
const INTERNAL_ERROR = 2
const NO_ERROR = 0

/** Cuts what arrives into frames, whatever pieces it comes in. */
export class FrameSplitter {
  #rest = Buffer.alloc(0)

  split(bytes: Buffer): readonly Http2Frame[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const frames: Http2Frame[] = []
    while (this.#rest.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < length) break
      const frame = this.#rest.subarray(0, length)
      frames.push({ type: frame.readUInt8(3), stream: frame.readUInt32BE(5) & 0x7fff_ffff, bytes: frame })
      this.#rest = this.#rest.subarray(length)
    }
    return frames
  }
}

/** The server leaves and has done nothing of what came after this stream. */
export function goAway(lastStream: number): Buffer {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(lastStream, 0)
  payload.writeUInt32BE(NO_ERROR, 4)
  return toFrame(GOAWAY, 0, payload)
}

/** The server breaks one stream off. */
export function reset(stream: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(INTERNAL_ERROR)
  return toFrame(RST_STREAM, stream, payload)
}

function toFrame(type: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}
