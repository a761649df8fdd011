import { PassThrough } from 'node:stream'
import type { WebSocketConnection } from '../../streams/websocket/websocket-connection.ts'
import { readChunks } from '../../streams/read-chunks.ts'
import { writeBytes } from '../../streams/write-bytes.ts'
import { runCommand, toCommandStatus, toFailureStatus } from './run-command.ts'
import type { ServedCommand } from './serve-spdy-command.ts'

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const
// Version 5: the byte after this one names a channel on which the client sends no more.
const CLOSE_SIGNAL = 255

/** Serves a command to a client that speaks WebSocket: the first byte of a message is the number of its stream. */
export async function serveWebSocketCommand(
  connection: WebSocketConnection,
  { streams, open }: ServedCommand,
): Promise<void> {
  const inputs = new Map<number, PassThrough>([
    ...(streams.stdin ? [[CHANNELS.stdin, new PassThrough()] as const] : []),
    ...(streams.tty ? [[CHANNELS.resize, new PassThrough()] as const] : []),
  ])
  for (const input of inputs.values()) input.on('error', () => {})
  const reading = receive(connection, inputs).finally(() => {
    for (const input of inputs.values()) input.destroy()
  })
  reading.catch(() => {})
  const inputOf = (channel: number) => {
    const input = inputs.get(channel)
    return input && readChunks(input)
  }
  const client = {
    stdin: inputOf(CHANNELS.stdin),
    resize: inputOf(CHANNELS.resize),
    left: reading,
    write: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => connection.send(Uint8Array.of(CHANNELS[stream]), bytes),
  }
  const status = await open()
    .then((command) => runCommand(client, command))
    .then(toCommandStatus, toFailureStatus)
  await connection.send(Uint8Array.of(CHANNELS.error), Buffer.from(JSON.stringify(status)))
  connection.close('normal')
  await reading.catch(() => {})
  connection.socket.destroy()
}

async function receive(connection: WebSocketConnection, inputs: ReadonlyMap<number, PassThrough>): Promise<void> {
  let channel: number | undefined
  for await (const { bytes, first } of connection.pieces()) {
    if (first) channel = undefined
    const content = channel === undefined ? bytes.subarray(1) : bytes
    channel ??= bytes[0]
    if (channel === CLOSE_SIGNAL) inputs.get(content[0] ?? -1)?.end()
    else if (channel !== undefined && content.length > 0) await write(inputs.get(channel), content)
  }
}

async function write(input: PassThrough | undefined, bytes: Uint8Array): Promise<void> {
  if (input !== undefined) await writeBytes(input, Buffer.from(bytes)).catch(() => {})
}
