import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { encodeWebSocketHead } from '../../src/protocols/streams/websocket/websocket-connection.ts'
import type { WEBSOCKET_OPCODES } from '../../src/protocols/streams/websocket/websocket-connection.ts'
import { readChunks } from '../../src/protocols/streams/read-chunks.ts'
import { WebSocketDecoder } from '../../src/protocols/streams/websocket/websocket-decoder.ts'
import type { WebSocketEvent } from '../../src/protocols/streams/websocket/websocket-decoder.ts'
import { computeAcceptKey } from '../../src/protocols/streams/websocket/websocket-handshake.ts'
import { writeBytes } from '../../src/protocols/streams/write-bytes.ts'

/** The client's side of a WebSocket, with the channels of Kubernetes. */
export class WebSocketClient {
  readonly socket: Socket
  readonly protocol: string | undefined
  readonly #decoder = new WebSocketDecoder({ masked: false })

  private constructor(socket: Socket, protocol: string | undefined) {
    this.socket = socket
    this.protocol = protocol
  }

  static async open(
    t: TestContext,
    target: { readonly port: number; readonly path: string; readonly protocols: readonly string[] },
  ): Promise<WebSocketClient> {
    const key = randomBytes(16).toString('base64')
    const asking = request({
      host: '127.0.0.1',
      port: target.port,
      path: target.path,
      agent: false,
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': key,
        'Sec-WebSocket-Protocol': target.protocols.join(', '),
      },
    })
    asking.end()
    const answered = once(asking, 'response').then(([response]) => {
      throw new Error(`refused with ${(response as IncomingMessage).statusCode}`)
    })
    const upgraded = once(asking, 'upgrade') as Promise<[IncomingMessage, Socket, Buffer]>
    const [reply, socket, head] = await Promise.race([upgraded, answered])
    answered.catch(() => {})
    t.after(() => socket.destroy())
    assert.equal(reply.headers['sec-websocket-accept'], computeAcceptKey(key))
    if (head.length > 0) socket.unshift(head)
    socket.on('error', () => {})
    return new WebSocketClient(socket, reply.headers['sec-websocket-protocol'])
  }

  async send(content: Uint8Array, kind: keyof typeof WEBSOCKET_OPCODES = 'binary'): Promise<void> {
    const mask = randomBytes(4)
    const masked = Buffer.from(content)
    for (let at = 0; at < masked.length; at += 1) masked[at] = (masked[at] ?? 0) ^ (mask[at % 4] ?? 0)
    await writeBytes(this.socket, encodeWebSocketHead(kind, masked.length, mask), masked)
  }

  async sendTo(channel: number, content: Uint8Array | string): Promise<void> {
    await this.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(content)]))
  }

  async closeChannel(channel: number): Promise<void> {
    await this.send(Uint8Array.of(255, channel))
  }

  /** As they come, until the server closes. */
  async *events(): AsyncGenerator<WebSocketEvent, void> {
    for await (const chunk of readChunks(this.socket)) yield* this.#decoder.decode(chunk)
  }

  /** All that comes on each channel, to the end. */
  async readChannels(): Promise<Record<number, string>> {
    const channels: Record<number, Buffer[]> = {}
    let channel = -1
    for await (const event of this.events()) {
      if (event.kind !== 'data') continue
      if (event.first) channel = event.bytes[0] ?? -1
      const content = Buffer.from(event.first ? event.bytes.subarray(1) : event.bytes)
      ;(channels[channel] ??= []).push(content)
    }
    return Object.fromEntries(Object.entries(channels).map(([at, parts]) => [at, Buffer.concat(parts).toString()]))
  }
}
