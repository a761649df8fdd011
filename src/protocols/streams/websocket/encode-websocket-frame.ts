/** What a frame of ours may be: we send whole messages only. */
export const WEBSOCKET_OPCODES = { binary: 2, close: 8, ping: 9, pong: 10 } as const

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
