// SPDY compresses the headers of a connection as one zlib stream with a dictionary that both sides know (here by its checksum). We use it
// without compressing: our headers are a few words, and stored blocks need no state and no memory.
const ZLIB_START = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])
// Ends on a whole byte and makes the reader use all that it has got.
const FLUSH = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff])
const LONGEST_BLOCK = 0xffff

/** The headers of one frame; first says that no frame with headers was sent on this connection before. */
export function encodeSpdyHeaders(headers: Readonly<Record<string, string>>, first: boolean): Buffer {
  const pairs = Object.entries(headers)
  const block = Buffer.concat([
    word(pairs.length),
    ...pairs.flatMap(([name, value]) => [...field(name.toLowerCase()), ...field(value)]),
  ])
  if (block.length > LONGEST_BLOCK)
    throw new Error(`Cannot send headers of ${block.length} bytes: expected at most ${LONGEST_BLOCK}`)
  const start = Buffer.alloc(5)
  start.writeUInt16LE(block.length, 1)
  start.writeUInt16LE(~block.length & 0xffff, 3)
  return Buffer.concat([...(first ? [ZLIB_START] : []), start, block, FLUSH])
}

function field(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  return [word(bytes.length), bytes]
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
