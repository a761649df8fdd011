import type { Duplex } from 'node:stream'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { readChunks } from '../../streams/read-chunks.ts'
import { SpdyServer } from '../../streams/spdy/spdy-server.ts'
import type { SpdyServerStream } from '../../streams/spdy/spdy-server.ts'
import { writeBytes } from '../../streams/write-bytes.ts'

/** Connects to a port inside the pod, also to one that listens on its loopback alone. */
export type DialPod = (port: number) => Promise<Duplex>

/** Carries each pair of streams that a client opens to a connection of its own, until the client leaves. */
export async function servePortForward(
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  dial: DialPod,
): Promise<void> {
  using server = new SpdyServer(socket, head)
  const halves = new Map<string, Partial<Record<string, SpdyServerStream>>>()
  for await (const stream of server.streams()) {
    const { requestid: id = '', streamtype: type = '' } = stream.headers
    const pair = { ...halves.get(id), [type]: stream }
    halves.set(id, pair)
    const { error, data } = pair
    if (error === undefined || data === undefined) continue
    halves.delete(id)
    void forward(error, data, dial).catch(() => {})
  }
  socket.destroy()
}

async function forward(error: SpdyServerStream, data: SpdyServerStream, dial: DialPod): Promise<void> {
  const port = Number(data.headers['port'])
  try {
    if (!(port >= 1 && port <= 65_535)) throw new Error(`Cannot use "${data.headers['port']}" as a port`)
    await carry(data, await dial(port))
  } catch (failure) {
    await error.write(Buffer.from(`error forwarding port ${port} to pod: ${errorMessage(failure)}`))
  }
  await data.finish()
  await error.finish()
}

/** Carries what a client sends to a connection, and back, until the connection ends. */
export async function carry(data: Pick<SpdyServerStream, 'input' | 'write'>, connection: Duplex): Promise<void> {
  connection.on('error', () => {})
  const sending = (async () => {
    for await (const chunk of data.input) await writeBytes(connection, chunk)
    connection.end()
  })().catch(() => connection.destroy())
  try {
    for await (const chunk of readChunks(connection)) await data.write(chunk)
    // The server has said all; what the client still sends has no reader.
  } finally {
    connection.destroy()
    void sending
  }
}
