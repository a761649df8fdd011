import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Duplex } from 'node:stream'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { selfSigned } from '../../fixtures/self-signed.ts'
import { createTestClient, until } from './create-test-client.ts'
import type { TestClientOptions } from './create-test-client.ts'
import { OBJECT, ScriptedServer } from './scripted-server.ts'

const never = new AbortController().signal
const get = { method: 'GET', path: '/api/v1/nodes/a' } as const
const unreachable = { name: 'KubeUnreachableError' }

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A server that only speaks HTTP/1.1. */
async function setUp(t: TestContext, answer: RequestListener, options: Partial<TestClientOptions> = {}) {
  const secure = options.scheme !== 'http'
  const server = secure ? createTlsServer(selfSigned, answer) : createServer(answer)
  let connections = 0
  server.on(secure ? 'secureConnection' : 'connection', () => (connections += 1))
  const clock = new FakeClock()
  const port = await listen(t, server)
  return { port, clock, connections: () => connections, ...createTestClient(t, { port, clock, ...options }) }
}

describe('a server that speaks HTTP/1.1', () => {
  for (const [name, options] of [
    ['is found out', {}],
    ['is not asked for more with DISABLE_HTTP2', { http2: false }],
    ['may have no TLS', { scheme: 'http' }],
  ] as const) {
    test(`${name}, and its connections are kept`, async (t) => {
      const seen: string[] = []
      const { client, connections, port } = await setUp(
        t,
        (request, response) => {
          seen.push(`${request.method} ${request.url} ${request.headers.host}`)
          request.pipe(response)
        },
        options,
      )
      const methods = ['POST', 'DELETE', 'PATCH', 'DELETE'] as const
      for (const method of methods) {
        const request = { method, path: '/a', query: { b: '1' }, body: { c: 2 } }
        assert.deepEqual(await client.send(request, never), { c: 2 })
      }
      assert.deepEqual(
        seen,
        methods.map((method) => `${method} /a?b=1 127.0.0.1:${port}`),
      )
      assert.equal(connections(), 1)
    })
  }

  test('has a connection for each watch; all end on request', async (t) => {
    const { client, transport, attempts, connections } = await setUp(t, (request, response) => {
      if (request.url?.includes('watch=true') !== true) return void response.end(JSON.stringify(OBJECT))
      response.write('{"type":"ADDED","object":{}}\n')
    })
    const watches = [1, 2, 3].map(() => client.watch({ path: '/a' }, never)[Symbol.asyncIterator]())
    for (const watch of watches) assert.equal((await watch.next()).done, false)
    assert.deepEqual([connections(), attempts.length], [3, 3])
    const ends = watches.map((watch) => assert.rejects(watch.next(), unreachable))
    transport.closeAll('enough')
    await Promise.all(ends)
    assert.deepEqual(await client.send(get, never), OBJECT)
  })

  test('that breaks off is asked again, but not for what creates', async (t) => {
    let broken = 0
    const { client, clock, attempts } = await setUp(t, (request, response) => {
      if (request.method === 'GET' && broken > 0) return void response.end(JSON.stringify(OBJECT))
      broken += 1
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"a":', () => response.destroy())
    })
    const read = client.send(get, never)
    await until(() => attempts.length === 1)
    await clock.advance(1000)
    assert.deepEqual(await read, OBJECT)
    await assert.rejects(client.send({ method: 'POST', path: '/a', body: {} }, never), unreachable)
    assert.deepEqual(attempts, ['GET 200', 'GET 200 again', 'POST 200'])
  })

  test('has its connection closed when the caller gives up', async (t) => {
    const asked = Promise.withResolvers<IncomingMessage>()
    const { client } = await setUp(t, (request) => asked.resolve(request))
    const leave = new AbortController()
    const sent = assert.rejects(client.send(get, leave.signal), /no more/)
    const { socket } = await asked.promise
    leave.abort(new Error('no more'))
    await sent
    await once(socket, 'close')
  })
})

describe('a proxy', () => {
  async function startProxy(t: TestContext, login: string | undefined) {
    const asked: string[] = []
    const proxy = createServer()
    proxy.on('connect', (request: IncomingMessage, near: Duplex) => {
      asked.push(request.url ?? '')
      if (request.headers['proxy-authorization'] !== login) return void near.end('HTTP/1.1 407 Login\r\n\r\n')
      const far = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n')
        near.pipe(far).pipe(near)
      })
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => {})
        one.once('close', () => other.destroy())
      }
    })
    return { asked, port: await listen(t, proxy) }
  }

  test('is asked for a tunnel, which carries HTTP/2', async (t) => {
    const server = new ScriptedServer({})
    await server.listen(t)
    const { asked, port } = await startProxy(t, `Basic ${Buffer.from('me:p@ss').toString('base64')}`)
    const proxy = new URL(`http://me:p%40ss@127.0.0.1:${port}`)
    const { client } = createTestClient(t, { port: server.port, clock: new FakeClock(), proxy })
    assert.deepEqual(await client.send(get, never), OBJECT)
    assert.deepEqual([asked, server.connections], [[`127.0.0.1:${server.port}`], 1])
  })

  test('that refuses is named, without the login', async (t) => {
    const { port } = await startProxy(t, 'Basic other')
    const proxy = new URL(`http://me:secret@127.0.0.1:${port}`)
    const { client } = createTestClient(t, { port: 6443, clock: new FakeClock(), proxy })
    await assert.rejects(client.send(get, never), {
      ...unreachable,
      message: `Cannot reach the API server "https://127.0.0.1:6443": the proxy "127.0.0.1:${port}" answered with status 407, expected 200`,
    })
  })
})
