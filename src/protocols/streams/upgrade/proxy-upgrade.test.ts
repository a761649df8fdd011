import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Duplex } from 'node:stream'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { answerUpgrade } from './answer-upgrade.ts'
import { UpgradeError } from './pass-upgrade.ts'
import { proxyUpgrade } from './proxy-upgrade.ts'

const IDLE_MS = 4 * 60 * 60 * 1000

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

type Behaviour = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** A proxy in front of a server that behaves so, and a connection to the proxy. */
async function createWorld(t: TestContext, behaviour: Behaviour) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const target = createServer().on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    behaviour(request, socket, head)
  })
  const targetPort = await listen(t, target)
  const ends: unknown[] = []
  const ended = Promise.withResolvers<void>()
  const proxy = createServer().on('upgrade', (request, socket, head) => {
    const connectTarget = () => open(t, targetPort)
    proxyUpgrade({
      request,
      socket,
      head,
      target: {
        connect: connectTarget,
        method: request.method ?? 'GET',
        path: '/there?token=1',
        headers: { authorization: undefined },
      },
      idleMs: IDLE_MS,
      clock,
      signal: stop.signal,
    })
      .then(
        (end) => ends.push(end),
        (error: unknown) => {
          ends.push(error)
          if (error instanceof UpgradeError) answerUpgrade(socket, { status: 502, body: error.message })
        },
      )
      .finally(ended.resolve)
  })
  const client = await open(t, await listen(t, proxy))
  return { client, clock, stop, ended: ended.promise, ends }
}

const HELLO =
  'POST /here?secret HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: talk/1\r\n' +
  'Authorization: Bearer hush\r\nX-Stream-Protocol-Version: v4\r\nX-Stream-Protocol-Version: v3\r\nX-Forwarded-For: 10.1.1.1\r\n' +
  'Content-Length: 0\r\n\r\n'
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: talk/1\r\n\r\n'

describe('proxyUpgrade()', () => {
  test('passes on the request, both first bytes, and each end for itself', async (t) => {
    const seen: unknown[] = []
    const { client, ended, ends, clock } = await createWorld(t, (request, socket, head) => {
      seen.push(request.method, request.url, request.rawHeaders.join(' '))
      socket.write(`${SWITCHED}first`)
      let said = String(head)
      socket.on('data', (chunk) => (said += String(chunk)))
      socket.on('end', () => socket.end(`you said ${said}`))
    })
    client.write(`${HELLO}early `)
    client.end('and late')
    assert.equal(await text(client), `${SWITCHED}firstyou said early and late`)
    assert.deepEqual(seen, [
      'POST',
      '/there?token=1',
      'Host node Connection Upgrade Upgrade talk/1 X-Stream-Protocol-Version v4 X-Stream-Protocol-Version v3 ' +
        'X-Forwarded-For 10.1.1.1, 127.0.0.1 Content-Length 0',
    ])
    await ended
    assert.deepEqual(ends, ['finished'])
    assert.equal(clock.sleeping, 0)
  })

  test('carries megabytes both ways at the pace of a slow reader', async (t) => {
    const size = 8 * 1024 * 1024
    const { client, ended } = await createWorld(t, (_request, socket) => {
      socket.write(SWITCHED)
      socket.pipe(socket)
    })
    client.write(HELLO)
    await once(client, 'readable')
    assert.equal(String(client.read(SWITCHED.length)), SWITCHED)
    const sent = createHash('sha256')
    const block = Buffer.alloc(64 * 1024)
    for (let at = 0; at < size; at += block.length) {
      block.writeUInt32LE(at)
      sent.update(block)
      client.write(Buffer.from(block))
    }
    client.end()
    const received = createHash('sha256')
    for await (const chunk of client) received.update(chunk as Buffer)
    assert.equal(received.digest('hex'), sent.digest('hex'))
    await ended
  })

  test('stops reading from a server whose client does not read', async (t) => {
    let writtenBytes = 0
    const stalled = Promise.withResolvers<void>()
    const { client, stop, ended, ends } = await createWorld(t, (_request, socket) => {
      socket.write(SWITCHED)
      const block = Buffer.alloc(1024 * 1024)
      const fill = () => {
        while (writtenBytes < 64 * block.length) {
          writtenBytes += block.length
          if (!socket.write(block)) break
        }
      }
      socket.on('drain', fill)
      fill()
      let before = 0
      const look = setInterval(() => {
        if (writtenBytes === before) {
          clearInterval(look)
          stalled.resolve()
        }
        before = writtenBytes
      }, 50)
    })
    client.pause()
    client.write(HELLO)
    await stalled.promise
    // What is under way is in the buffers of the kernel and one buffer on each side of the proxy.
    assert.ok(writtenBytes < 64 * 1024 * 1024, `the server could write ${writtenBytes} bytes`)
    stop.abort(new Error('test over'))
    await ended
    assert.deepEqual(ends, ['stopped'])
  })

  test('gives a refusal to the client as it came, without its framing', async (t) => {
    const { client, ended, ends } = await createWorld(t, (_request, socket) => {
      socket.end(
        'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\n0\r\n\r\n',
      )
    })
    client.write(HELLO)
    assert.equal(
      await text(client),
      'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nConnection: close\r\n\r\nbusy',
    )
    await ended
    assert.deepEqual(ends, ['refused'])
  })

  test('does not follow a redirect', async (t) => {
    const { client } = await createWorld(t, (_request, socket) => {
      socket.end('HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n')
    })
    client.write(HELLO)
    const answer = await text(client)
    assert.match(answer, /^HTTP\/1\.1 502 Bad Gateway\r\n/)
    assert.match(answer, /Cannot upgrade the connection: the server answered 302, expected 101$/)
  })

  test('reports that the target cannot be reached', async (t) => {
    const clock = new FakeClock()
    const closed = createTcpServer()
    const port = await listen(t, closed)
    closed.close()
    const connectTarget = async () => {
      const socket = connect({ host: '127.0.0.1', port })
      await once(socket, 'connect')
      return socket
    }
    const front = createServer().on('upgrade', (request, socket, head) => {
      const target = { connect: connectTarget, method: 'GET', path: '/', headers: {} }
      const { signal } = new AbortController()
      proxyUpgrade({ request, socket, head, target, idleMs: IDLE_MS, clock, signal }).catch((error: Error) =>
        answerUpgrade(socket, { status: 500, body: `${error.name}: ${error.message}` }),
      )
    })
    const client = await open(t, await listen(t, front))
    client.write(HELLO)
    assert.match(
      await text(client),
      /^HTTP\/1\.1 500 .*UpgradeError: Cannot upgrade the connection: connect ECONNREFUSED/s,
    )
  })

  test('closes both sides when nothing happens for too long', async (t) => {
    const closed = Promise.withResolvers<void>()
    const { client, clock, ended, ends } = await createWorld(t, (_request, socket) => {
      socket.write(SWITCHED)
      socket.on('end', closed.resolve).resume()
    })
    client.write(HELLO)
    await once(client, 'data')
    const left = once(client, 'end')
    await clock.advance(IDLE_MS)
    await Promise.all([left, closed.promise, ended])
    assert.deepEqual(ends, ['idle'])
    assert.equal(clock.sleeping, 0)
  })

  test('gives the client all that the server said before it broke off', async (t) => {
    const size = 4 * 1024 * 1024
    const { client, ended, ends } = await createWorld(t, (_request, socket) => {
      socket.write(SWITCHED)
      socket.write(Buffer.alloc(size), () => (socket as Socket).resetAndDestroy())
    })
    client.write(HELLO)
    // Input that nobody will ever read.
    client.write(Buffer.alloc(size))
    let bytes = 0
    for await (const chunk of client.iterator({ destroyOnReturn: false })) bytes += (chunk as Buffer).length
    assert.ok(bytes > SWITCHED.length)
    client.end()
    await ended
    assert.deepEqual(ends, ['broken'])
  })

  test('breaks off one side when the other breaks off', async (t) => {
    const closed = Promise.withResolvers<void>()
    const { client, ended, ends } = await createWorld(t, (_request, socket) => {
      socket.write(SWITCHED)
      socket.on('end', closed.resolve).resume()
    })
    client.write(HELLO)
    await once(client, 'data')
    client.resetAndDestroy()
    await Promise.all([closed.promise, ended])
    assert.deepEqual(ends, ['broken'])
  })
})
