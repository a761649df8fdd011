import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { readChunks } from '../read-chunks.ts'
import { relaySpdy } from './relay-spdy.ts'
import type { SpdyCommand } from './spdy-carrier.ts'
import { SpdyDecoder } from './spdy-decoder.ts'
import { encodeDataHead, encodePing, encodeSynStream, SPDY_FIN } from './spdy-frames.ts'

const IDLE_MS = 4 * 60 * 60 * 1000
const BLOCK = 256 * 1024

/** Both ends of a connection. */
async function createPair(t: TestContext): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const near = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const [far] = (await once(server, 'connection')) as [Socket]
  server.close()
  for (const socket of [near, far]) {
    socket.on('error', () => {})
    t.after(() => socket.destroy())
  }
  return [near, far]
}

async function createWorld(t: TestContext, command?: SpdyCommand, head: Buffer = Buffer.alloc(0)) {
  const clock = new FakeClock()
  const [client, fromClient] = await createPair(t)
  const [toServer, server] = await createPair(t)
  const exchange = { client: fromClient, target: toServer, head, command, idleMs: IDLE_MS, clock }
  const ended = relaySpdy(exchange, new AbortController().signal)
  return { client, server, clock, ended }
}

/** Waits for the next frames, as text. */
async function nextFrames(socket: Socket, count: number): Promise<string[]> {
  const decoder = new SpdyDecoder()
  const frames: string[] = []
  for await (const chunk of readChunks(socket)) {
    for (const event of decoder.decode(chunk))
      frames.push(
        event.kind === 'control'
          ? `control ${event.type} ${event.content.toString('hex')}`
          : `data ${event.stream} ${event.bytes.toString()}${event.fin ? ' fin' : ''}`,
      )
    if (frames.length >= count) break
  }
  return frames
}

const data = (stream: number, text: string, flags = 0) =>
  Buffer.concat([encodeDataHead(stream, Buffer.byteLength(text), flags), Buffer.from(text)])

/** Writes until the other side takes no more; returns how many blocks of so many bytes the kernel has. */
async function fill(socket: Socket): Promise<number> {
  const block = Buffer.concat([encodeDataHead(3, BLOCK), Buffer.alloc(BLOCK)])
  for (let taken = 0; ; taken += 1) {
    const written = new Promise<true>((resolve) => socket.write(block, () => resolve(true)))
    if ((await Promise.race([written, sleep(300)])) !== true) return taken
  }
}

describe('relaySpdy()', () => {
  test('passes on frames as they are, and each end for itself', async (t) => {
    const open = encodeSynStream(1, { streamType: 'error' }, true)
    const { client, server, ended, clock } = await createWorld(t, undefined, open.subarray(0, 5))
    client.write(open.subarray(5))
    client.end(data(1, 'from the client', SPDY_FIN))
    const asked = await nextFrames(server, 2)
    assert.deepEqual(asked, [`control 1 ${open.subarray(8).toString('hex')}`, 'data 1 from the client fin'])
    server.end(data(1, 'from the server', SPDY_FIN))
    assert.deepEqual(await buffer(client), data(1, 'from the server', SPDY_FIN))
    assert.equal(await ended, 'finished')
    assert.equal(clock.sleeping, 0)
  })

  test('answers pings of the client itself, and lets one through to a server that is quiet for long', async (t) => {
    const { client, server, clock } = await createWorld(t)
    client.write(encodePing(7))
    assert.deepEqual(await nextFrames(client, 1), ['control 6 00000007'])
    // Of the server, and its answer.
    server.write(encodePing(2))
    assert.deepEqual(await nextFrames(client, 1), ['control 6 00000002'])
    client.write(encodePing(2))
    assert.deepEqual(await nextFrames(server, 1), ['control 6 00000002'])
    await clock.advance(60_000)
    client.write(encodePing(9))
    assert.deepEqual(await nextFrames(server, 1), ['control 6 00000009'])
  })

  test('loses nothing that a server sent before it closed, although the client pings before it has read it', async (t) => {
    const { client, server, ended } = await createWorld(t)
    client.pause()
    const sent = (await fill(server)) * BLOCK
    server.destroy()
    client.write(encodePing(1))
    // Time for the ping to do harm.
    await sleep(50)
    let received = 0
    for await (const chunk of readChunks(client)) received += chunk.length
    assert.ok(received >= sent, `received ${received} of ${sent} bytes`)
    client.end()
    await ended
  })

  test('finds out that a client left which it could not read from', async (t) => {
    const { client, server, clock, ended } = await createWorld(t)
    await fill(client)
    // With nothing unread it does not say so.
    client.destroy()
    const began = clock.monotonic()
    let end: unknown
    while (end === undefined) {
      await clock.advance(10_000)
      end = await Promise.race([ended, sleep(5)])
    }
    assert.equal(end, 'broken')
    assert.ok(clock.monotonic() - began < IDLE_MS)
    server.destroy()
  })

  test('reports a stuck command that has printed all and takes no more input, but not one that has still to print', async (t) => {
    const { client, server, clock, ended } = await createWorld(t, { outputs: 2, protocol: 'v4.channel.k8s.io' })
    await fill(client)
    server.write(data(5, 'four', SPDY_FIN))
    assert.deepEqual(await nextFrames(client, 1), ['data 5 four fin'])
    for (let pulse = 0; pulse < 6; pulse += 1) await clock.advance(10_000)
    server.write(data(7, '', SPDY_FIN))
    const seen = nextFrames(client, 20)
    while (!(await Promise.race([ended, sleep(5)]))) await clock.advance(10_000)
    const reported = (await seen).find((frame) => frame.startsWith('data 1 '))
    assert.match(reported ?? '', /"status":"Failure".*did not report how the command ended.* fin$/)
    await ended
  })

  test('ends what is not SPDY', async (t) => {
    const { client, ended } = await createWorld(t)
    client.end(Buffer.from('8002000600000004', 'hex'))
    await buffer(client)
    assert.equal(await ended, 'broken')
  })
})
