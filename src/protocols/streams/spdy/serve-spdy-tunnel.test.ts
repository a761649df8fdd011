import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { startFakeStreamServer, switchedTo } from '../../../../test/fakes/fake-stream-server.ts'
import type { FakeCommand } from '../../../../test/fakes/fake-stream-server.ts'
import { WebSocketClient } from '../../../../test/fakes/websocket-client.ts'
import { answerUpgrade } from '../upgrade/answer-upgrade.ts'
import { serveSpdyTunnel } from './serve-spdy-tunnel.ts'

const PROTOCOL = 'SPDY/3.1+portforward.k8s.io'

async function createWorld(t: TestContext, serve: (command: FakeCommand) => Promise<void>) {
  const runtime = await startFakeStreamServer(t, serve)
  const ended = Promise.withResolvers<unknown>()
  const server = createServer().on('upgrade', (request, socket, head) => {
    const connectRuntime = async () => {
      const connection = connect({ host: '127.0.0.1', port: runtime.port })
      await once(connection, 'connect')
      return connection
    }
    const target = { connect: connectRuntime, method: 'GET', path: '/portforward/token', headers: {} }
    const { signal } = new AbortController()
    serveSpdyTunnel({ request, socket, head, target, idleMs: 1000, clock: new FakeClock(), signal }).then(
      ended.resolve,
      (error: Error) => answerUpgrade(socket, { status: 500, body: error.message }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, ended: ended.promise }
}

describe('serveSpdyTunnel()', () => {
  test('asks for SPDY, and carries its bytes in messages', async (t) => {
    const seen: unknown[] = []
    const { port, ended } = await createWorld(t, async ({ request, socket }) => {
      const { upgrade, connection, 'x-stream-protocol-version': protocol, 'x-forwarded-for': client } = request.headers
      const left = Object.keys(request.headers).find((name) => name.startsWith('sec-websocket')) ?? 'none'
      seen.push(request.method, request.url, upgrade, connection, protocol, client, left)
      socket.write(switchedTo('portforward.k8s.io'))
      socket.pipe(socket)
    })
    const client = await WebSocketClient.open(t, { port, path: '/', protocols: ['other', PROTOCOL] })
    assert.equal(client.protocol, PROTOCOL)
    const blocks = Array.from({ length: 40 }, (_, at) => randomBytes(1 + at * 3000))
    const total = blocks.reduce((sum, block) => sum + block.length, 0)
    const sending = (async () => {
      for (const block of blocks) await client.send(block)
    })()
    const received = createHash('sha256')
    let bytes = 0
    for await (const event of client.events()) {
      if (event.kind === 'data') received.update(event.bytes)
      bytes += event.kind === 'data' ? event.bytes.length : 0
      if (bytes === total) await client.send(new Uint8Array(), 'close')
    }
    await sending
    client.socket.end()
    await ended
    assert.equal(received.digest('hex'), createHash('sha256').update(Buffer.concat(blocks)).digest('hex'))
    assert.equal(seen.join(' '), 'POST /portforward/token SPDY/3.1 Upgrade portforward.k8s.io 127.0.0.1 none')
  })

  test('gives a refusal to the client as it came', async (t) => {
    const { port } = await createWorld(t, async ({ socket }) => {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
    })
    const asking = request({
      port,
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
        'Sec-WebSocket-Protocol': PROTOCOL,
      },
    })
    asking.end()
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    assert.deepEqual([response.statusCode, await text(response)], [403, 'no'])
  })
})
