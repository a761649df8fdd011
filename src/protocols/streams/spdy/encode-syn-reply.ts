import { encodeSpdyHeaders } from './encode-spdy-headers.ts'
import { encodeSpdyEvent, SPDY_TYPES } from './spdy-frames.ts'

/** Accepts a stream, which only a server does. The headers must be encoded in the order in which the frames are sent. */
export function encodeSynReply(stream: number, first: boolean): Buffer {
  const number = Buffer.alloc(4)
  number.writeUInt32BE(stream)
  const content = Buffer.concat([number, encodeSpdyHeaders({}, first)])
  return Buffer.concat(encodeSpdyEvent({ kind: 'control', type: SPDY_TYPES.synReply, flags: 0, content }))
}
