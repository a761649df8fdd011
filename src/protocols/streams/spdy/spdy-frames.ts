import { encodeSpdyHeaders } from './encode-spdy-headers.ts'
import type { SpdyEvent } from './spdy-decoder.ts'

/** The control frames of SPDY/3.1 that we know. */
export const SPDY_TYPES = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const
/** No data follows in this direction of the stream. */
export const SPDY_FIN = 0x01
const CONTROL = 0x8003
const HEAD_BYTES = 8

/** Opens a stream. The headers must be encoded in the order in which the frames are sent. */
export function encodeSynStream(stream: number, headers: Readonly<Record<string, string>>, first: boolean): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt32BE(stream)
  return encodeControl(SPDY_TYPES.synStream, Buffer.concat([fixed, encodeSpdyHeaders(headers, first)]))
}

export function encodeRstStream(stream: number, status: number): Buffer {
  return encodeControl(SPDY_TYPES.rstStream, words(stream, status))
}

export function encodePing(id: number): Buffer {
  return encodeControl(SPDY_TYPES.ping, words(id))
}

/** Allows the other side to send so many bytes more; stream 0 is all of them together. */
export function encodeWindowUpdate(stream: number, bytes: number): Buffer {
  return encodeControl(SPDY_TYPES.windowUpdate, words(stream, bytes))
}

/** A frame as it was read. What was a piece of a frame with data becomes a frame of its own. */
export function encodeSpdyEvent(event: SpdyEvent): readonly Uint8Array[] {
  if (event.kind === 'control') return [encodeControl(event.type, event.content, event.flags)]
  return [encodeDataHead(event.stream, event.bytes.length, event.fin ? SPDY_FIN : 0), event.bytes]
}

/** The head of a frame with data of a stream, which follows. */
export function encodeDataHead(stream: number, length: number, flags = 0): Buffer {
  return words(stream, flags * 2 ** 24 + length)
}

function encodeControl(type: number, content: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt16BE(CONTROL)
  head.writeUInt16BE(type, 2)
  head.writeUInt32BE(flags * 2 ** 24 + content.length, 4)
  return Buffer.concat([head, content])
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at)
  return bytes
}

/** Accepts a stream, which only a server does. The headers must be encoded in the order in which the frames are sent. */
export function encodeSynReply(stream: number, first: boolean): Buffer {
  const number = Buffer.alloc(4)
  number.writeUInt32BE(stream)
  const content = Buffer.concat([number, encodeSpdyHeaders({}, first)])
  return Buffer.concat(encodeSpdyEvent({ kind: 'control', type: SPDY_TYPES.synReply, flags: 0, content }))
}
