import type { Socket } from 'node:net'
import type { UpgradeTransport } from '../../../protocols/kube-api/transport/transport.ts'
import { readChunks } from '../../../protocols/streams/read-chunks.ts'
import { SpdyClient } from '../../../protocols/streams/spdy/spdy-client.ts'
import { openUpgrade } from '../../../protocols/streams/upgrade/open-upgrade.ts'
import { writeBytes } from '../../../protocols/streams/write-bytes.ts'

/** A port of a pod, as the API serves it. */
export interface PodPort {
  /** Of the portforward of its pod. */
  readonly target: string
  readonly port: number
}

const PROTOCOL = 'portforward.k8s.io'
const LONGEST_EXCUSE = 1024

/** Carries one connection to a port of a pod, as the user of the transport, until both sides have ended. Fails when the pod cannot be reached. */
export async function forwardConnection(
  transport: UpgradeTransport,
  { target, port }: PodPort,
  socket: Socket,
  signal: AbortSignal,
): Promise<void> {
  const opened = await transport.openUpgradeConnection(signal)
  const own = {
    host: transport.host,
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': PROTOCOL,
  }
  const headers = Object.entries({ ...own, ...opened.headers }).flat()
  const connect = () => Promise.resolve(opened.socket)
  const leave = () => opened.socket.destroy()
  try {
    const path = `${opened.base}${target}`
    const { kind, reply, connection } = await openUpgrade({ connect, method: 'POST', path, headers }, signal)
    if (kind === 'answered') throw new Error(await readExcuse(reply))
    signal.addEventListener('abort', leave, { once: true })
    // A client that is gone gets no answer.
    socket.once('close', leave)
    await carry(new SpdyClient(connection), port, socket)
  } catch (error) {
    // Gone after all was said, or not interested any more.
    if (!socket.destroyed) throw error
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

async function carry(spdy: SpdyClient, port: number, socket: Socket): Promise<void> {
  const common = { port: String(port), requestID: '0' }
  const errors = await spdy.open({ streamType: 'error', ...common })
  await spdy.finish(errors)
  const data = await spdy.open({ streamType: 'data', ...common })
  let excuse = ''
  for await (const event of spdy.events()) {
    if (event.kind === 'accepted' && event.stream === data) void send(spdy, data, socket)
    else if (event.kind === 'data' && event.stream === data) await writeBytes(socket, event.bytes)
    else if (event.kind === 'data') excuse = `${excuse}${event.bytes.toString('utf8')}`.slice(0, LONGEST_EXCUSE)
    else if (event.kind === 'over' && event.stream === errors && excuse !== '') throw new Error(excuse)
    else if (event.kind === 'over' && event.stream === data) socket.end()
  }
}

/** What the client sends; its end is passed on too. Never rejects: what breaks is seen by the one who reads. */
async function send(spdy: SpdyClient, stream: number, socket: Socket): Promise<void> {
  try {
    for await (const chunk of readChunks(socket)) await spdy.send(stream, chunk)
    await spdy.finish(stream)
  } catch {
    socket.destroy()
  }
}

async function readExcuse(
  reply: AsyncIterable<unknown> & { readonly statusCode?: number | undefined },
): Promise<string> {
  let text = ''
  for await (const chunk of reply) {
    text += String(chunk)
    if (text.length > LONGEST_EXCUSE) break
  }
  return text.slice(0, LONGEST_EXCUSE).trim() || `the server answered ${reply.statusCode}`
}
