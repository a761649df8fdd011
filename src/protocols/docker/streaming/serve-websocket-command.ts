import { PassThrough } from 'node:stream'
import type { WebSocketConnection } from '../../streams/websocket/websocket-connection.ts'
import { readChunks } from '../../streams/read-chunks.ts'
import { runCommand, toCommandStatus, toFailureStatus } from './run-command.ts'
import type { ServedCommand } from './serve-spdy-command.ts'
import { receiveChannels } from './websocket-channels.ts'

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

/** Serves a command to a client that speaks WebSocket: the first byte of a message is the number of its stream. */
export async function serveWebSocketCommand(
  connection: WebSocketConnection,
  { streams, open }: ServedCommand,
): Promise<void> {
  const inputs = new Map<number, PassThrough>([
    ...(streams.stdin ? [[CHANNELS.stdin, new PassThrough()] as const] : []),
    ...(streams.tty ? [[CHANNELS.resize, new PassThrough()] as const] : []),
  ])
  const reading = receiveChannels(connection, inputs)
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
