import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { createInflate } from 'node:zlib'
import { readChunks } from '../../src/protocols/streams/read-chunks.ts'
import { SpdyDecoder } from '../../src/protocols/streams/spdy/spdy-decoder.ts'
import { encodeDataHead, SPDY_FIN, SPDY_TYPES, encodeSynReply } from '../../src/protocols/streams/spdy/spdy-frames.ts'
import { writeBytes } from '../../src/protocols/streams/write-bytes.ts'
import { SPDY_DICTIONARY } from '../../src/protocols/streams/spdy/read-spdy-headers.ts'

/** A command as the runtime sees it: streams by their types. */
export class FakeCommand {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly opened: string[] = []
  /** Other frames than those that open streams: type and content. */
  readonly controls: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #inputs = new Map<number, PassThrough>()
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY })

  constructor(request: IncomingMessage, socket: Duplex) {
    this.request = request
    this.socket = socket
  }

  /** What the client sends on a stream. The connection is read no faster than this. */
  input(type: string): PassThrough {
    return this.#inputs.get(this.#number(type)) ?? new PassThrough()
  }

  async write(type: string, bytes: Uint8Array | string): Promise<void> {
    const content = Buffer.from(bytes)
    await writeBytes(this.socket, encodeDataHead(this.#number(type), content.length), content)
  }

  async finish(...types: readonly string[]): Promise<void> {
    for (const type of types) await writeBytes(this.socket, encodeDataHead(this.#number(type), 0, SPDY_FIN))
  }

  /** Accepts streams, and returns when these are there. Goes on reading. */
  async open(expected: readonly string[]): Promise<void> {
    const complete = Promise.withResolvers<void>()
    this.#read(() => {
      if (expected.every((type) => this.#numbers.has(type))) complete.resolve()
    })
      .catch(() => {})
      .finally(complete.resolve)
    await complete.promise
  }

  async #read(onOpened: () => void): Promise<void> {
    const decoder = new SpdyDecoder()
    for await (const chunk of readChunks(this.socket)) {
      for (const event of decoder.decode(chunk)) {
        if (event.kind === 'data') {
          const input = this.#inputs.get(event.stream)
          if (event.bytes.length > 0 && input !== undefined) await writeBytes(input, Buffer.from(event.bytes))
          if (event.fin) input?.end()
        } else if (event.type === SPDY_TYPES.synStream) {
          await this.#accept(event.content)
          onOpened()
        } else this.controls.push(`${event.type} ${event.content.toString('hex')}`)
      }
    }
    for (const input of this.#inputs.values()) input.destroy(new Error('the client left'))
    this.socket.destroy()
  }

  async #accept(content: Buffer): Promise<void> {
    const number = content.readUInt32BE()
    const { streamtype = '' } = await this.#readHeaders(content.subarray(10))
    this.opened.push(streamtype)
    this.#numbers.set(streamtype, number)
    this.#inputs.set(
      number,
      new PassThrough().on('error', () => {}),
    )
    await writeBytes(this.socket, encodeSynReply(number, this.opened.length === 1))
  }

  async #readHeaders(block: Buffer): Promise<Record<string, string>> {
    await new Promise<void>((resolve, reject) => {
      this.#inflate.write(block, (error) => (error ? reject(error) : resolve()))
    })
    const bytes = this.#inflate.read() as Buffer
    let at = 4
    const take = () => {
      const end = at + 4 + bytes.readUInt32BE(at)
      const text = bytes.toString('utf8', at + 4, end)
      at = end
      return text
    }
    return Object.fromEntries(Array.from({ length: bytes.readUInt32BE() }, () => [take(), take()]))
  }

  #number(type: string): number {
    return this.#numbers.get(type) ?? 0
  }
}

/** A runtime's server for streams: each upgrade gets what serve does with it. */
export async function startFakeStreamServer(
  t: TestContext,
  serve: (command: FakeCommand, head: Buffer) => Promise<void>,
): Promise<{ readonly port: number }> {
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    serve(new FakeCommand(request, socket), head).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port }
}

/** What a runtime answers that speaks this version of the protocol. */
export function switchedTo(protocol: string): string {
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`
}
