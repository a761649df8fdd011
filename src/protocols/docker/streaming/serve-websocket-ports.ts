import { PassThrough } from 'node:stream'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { readChunks } from '../../streams/read-chunks.ts'
import type { WebSocketConnection } from '../../streams/websocket/websocket-connection.ts'
import { carry } from './serve-port-forward.ts'
import type { DialPod } from './serve-port-forward.ts'
import { receiveChannels } from './websocket-channels.ts'

/**
 * Carries ports to a client that speaks the oldest protocol: two channels for each port that it asked for, one for data and one for
 * errors. Each begins with the number of its port.
 */
export async function serveWebSocketPorts(
  connection: WebSocketConnection,
  ports: readonly number[],
  dial: DialPod,
): Promise<void> {
  const inputs = new Map(ports.map((_, index) => [2 * index, new PassThrough()]))
  const reading = receiveChannels(connection, inputs)
  reading.catch(() => {})
  await Promise.all(
    ports.map(async (port, index) => {
      const [data, error] = [Uint8Array.of(2 * index), Uint8Array.of(2 * index + 1)]
      const number = Buffer.alloc(2)
      number.writeUInt16LE(port)
      for (const channel of [data, error]) await connection.send(channel, number)
      const input = inputs.get(2 * index) ?? new PassThrough()
      try {
        const target = await dial(port)
        // A port that says nothing would be held open for a client that has left.
        const leave = () => void target.destroy()
        reading.then(leave, leave)
        await carry({ input: readChunks(input), write: (bytes) => connection.send(data, bytes) }, target)
      } catch (failure) {
        const text = `error forwarding port ${port} to pod: ${errorMessage(failure)}`
        await connection.send(error, Buffer.from(text)).catch(() => {})
      }
    }),
  )
  connection.close('normal')
  await reading.catch(() => {})
  connection.socket.destroy()
}
