import type { PassThrough } from 'node:stream'
import type { WebSocketConnection } from '../../streams/websocket/websocket-connection.ts'
import { writeBytes } from '../../streams/write-bytes.ts'

// Version 5: the byte after this one names a channel on which the client sends no more.
const CLOSE_SIGNAL = 255

/** Gives what a client sends to the inputs, by the channel that the first byte of each message names, until the client leaves. */
export async function receiveChannels(
  connection: WebSocketConnection,
  inputs: ReadonlyMap<number, PassThrough>,
): Promise<void> {
  for (const input of inputs.values()) input.on('error', () => {})
  try {
    let channel: number | undefined
    for await (const { bytes, first } of connection.pieces()) {
      if (first) channel = undefined
      const content = channel === undefined ? bytes.subarray(1) : bytes
      channel ??= bytes[0]
      if (channel === CLOSE_SIGNAL) inputs.get(content[0] ?? -1)?.end()
      else if (channel !== undefined && content.length > 0) await write(inputs.get(channel), content)
    }
  } finally {
    for (const input of inputs.values()) input.destroy()
  }
}

async function write(input: PassThrough | undefined, bytes: Uint8Array): Promise<void> {
  if (input !== undefined) await writeBytes(input, Buffer.from(bytes)).catch(() => {})
}
