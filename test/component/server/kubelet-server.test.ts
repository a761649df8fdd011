import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:https'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { connect } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import type { Route } from '../../../src/serving/http/route.ts'
import { sendText } from '../../../src/serving/http/send-answer.ts'
import { CLIENT_AUTH, SERVER_AUTH, createTestCertificate } from '../../builders/create-test-authority.ts'
import { startKubeletServer } from './start-kubelet-server.ts'
import type { ServerOptions, ServerUnderTest } from './start-kubelet-server.ts'

const hello: Route = { path: '/hello', methods: 'any', handle: async (_, response) => sendText(response, 200, 'hello') }

async function start(t: TestContext, options: Partial<ServerOptions> = {}) {
  const server = await startKubeletServer(t, { routes: [hello], ...options })
  const client = await createTestCertificate({
    subject: [{ CN: ['jane'] }],
    issuer: server.authority,
    usages: [CLIENT_AUTH],
  })
  return { server, credentials: { cert: client.certificatePem, key: client.keyPem } }
}

/** Sends raw bytes over TLS and returns everything that comes back until the end. */
async function send(server: ServerUnderTest, text: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = connect({
    host: '127.0.0.1',
    port: server.port,
    ca: server.authority.certificatePem,
    servername: 'localhost',
    ...options,
  })
  socket.on('error', () => {})
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => (received += chunk))
  socket.write(text)
  await once(socket, 'close')
  return received
}

describe('the certificate of the server', () => {
  test('is replaced while connections go on, and one that is no good is not taken', async (t) => {
    const { server, credentials } = await start(t)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const subject = async () => {
      const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const name = socket.getPeerX509Certificate()?.subject
      socket.destroy()
      return name
    }
    assert.equal((await server.ask('/hello', { ...credentials, agent })).status, 200)
    assert.equal(await subject(), 'CN=node')
    server.serveWith(
      await createTestCertificate({ subject: [{ CN: ['next'] }], issuer: server.authority, usages: [SERVER_AUTH] }),
    )
    assert.equal(await subject(), 'CN=next')
    server.serveWith({ certificatePem: 'x', keyPem: 'y' })
    assert.equal(await subject(), 'CN=next')
    assert.equal((await server.ask('/hello', { ...credentials, agent })).status, 200)
  })

  test('may come later: until then handshakes fail', async (t) => {
    const { server, credentials } = await start(t, { withoutCertificate: true })
    await assert.rejects(server.ask('/hello', credentials), /handshake failure/)
    server.serveWith(await createTestCertificate({ issuer: server.authority, usages: [SERVER_AUTH] }))
    assert.equal((await server.ask('/hello', credentials)).status, 200)
  })
})

describe('TLS', () => {
  test('is as old and has such suites as configured', async (t) => {
    const ciphers = 'TLS_AES_256_GCM_SHA384:ECDHE-ECDSA-AES256-GCM-SHA384'
    const { server } = await start(t, { tls: { minVersion: 'TLSv1.2', ciphers, groups: 'P-384' } })
    const shake = async (options: ConnectionOptions) => {
      const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...options })
      try {
        await once(socket, 'secureConnect')
        return `${socket.getProtocol()} ${socket.getCipher().standardName}`
      } catch {
        return 'refused'
      } finally {
        socket.destroy()
      }
    }
    assert.deepEqual(
      [
        await shake({}),
        await shake({ maxVersion: 'TLSv1.2' }),
        await shake({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }),
        await shake({ ecdhCurve: 'X25519' }),
        await shake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
        await shake({ ALPNProtocols: ['h2'] }),
      ],
      [
        'TLSv1.3 TLS_AES_256_GCM_SHA384',
        'TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
        'refused',
        'refused',
        'refused',
        'refused',
      ],
    )
  })

  test('resumes no session: each connection shows its certificate again', async (t) => {
    const { server, credentials } = await start(t)
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const options = {
        host: '127.0.0.1',
        port: server.port,
        rejectUnauthorized: false,
        minVersion: version,
        maxVersion: version,
        ...credentials,
      }
      const first = connect(options)
      let session: Buffer | undefined
      first.on('session', (given: Buffer) => (session = given))
      first.write('GET /hello HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n')
      first.resume()
      await once(first, 'close')
      const second = connect({ ...options, ...(session === undefined ? {} : { session }) })
      await once(second, 'secureConnect')
      assert.equal(second.isSessionReused(), false, version)
      second.destroy()
    }
  })
})

describe('upgrades', () => {
  const echo: Route = {
    path: '/exec/:namespace/:pod/:container',
    methods: ['GET', 'POST'],
    handle: async (_, response) => sendText(response, 400, 'expected an upgrade'),
    async upgrade({ parameters, caller }, socket) {
      if (parameters['pod'] === 'broken') throw new Error('secret detail')
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
      socket.write(`${caller.name} ${parameters['pod']};`)
      await once(socket.resume(), 'end')
      return 'finished'
    },
  }
  const ask = (path: string, more = '') =>
    `POST ${path} HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${more}\r\n`

  test('reach the endpoint with what was found out, and leave one line of record', async (t) => {
    const { server, credentials } = await start(t, { routes: [echo] })
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...credentials })
    socket.write(ask('/exec/n/web/c?command=%2Fbin%2Fsh&command=secret'))
    let text = ''
    while (!text.endsWith(';')) text += String((await once(socket, 'data'))[0])
    assert.match(text, /^HTTP\/1.1 101 .*jane web;$/s)
    assert.deepEqual(server.audits, [])
    socket.end()
    await once(socket.resume(), 'close')
    while (server.audits.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const [{ seconds, ...entry } = { seconds: -1 }] = server.audits
    assert.ok(seconds >= 0)
    assert.deepEqual(
      [entry, server.audits.length],
      [
        {
          caller: 'jane',
          from: '127.0.0.1',
          method: 'POST',
          path: '/exec/n/web/c',
          namespace: 'n',
          pod: 'web',
          container: 'c',
          program: 'sh',
          code: 101,
          end: 'finished',
        },
        1,
      ],
    )
  })

  test('that fail are answered and closed', async (t) => {
    const { server, credentials } = await start(t, { routes: [echo, hello] })
    const rows: readonly (readonly [string, ConnectionOptions, RegExp])[] = [
      [ask('/exec/n/web/c'), {}, /^HTTP\/1.1 401 .*connection: close.*\r\n\r\nUnauthorized$/is],
      [ask('/exec/n/broken/c'), credentials, /^HTTP\/1.1 500 .*connection: close.*\r\n\r\ninternal error/is],
      [ask('/hello', 'Connection: close\r\n'), credentials, /^HTTP\/1.1 200 .*hello$/s],
      [ask('/nothing', 'Connection: close\r\n'), credentials, /^HTTP\/1.1 404 /],
      [ask('/exec/n', 'Connection: close\r\n'), credentials, /^HTTP\/1.1 404 /],
    ]
    for (const [text, options, expected] of rows) assert.match(await send(server, text, options), expected)
    assert.deepEqual(
      server.audits.map(({ caller, path, code }) => [caller, path, code]),
      [
        [undefined, '/exec/n/web/c', 401],
        ['jane', '/exec/n/broken/c', 500],
        ['jane', '/exec/n', 404],
      ],
    )
  })
})

describe('bodies', () => {
  test('are not asked for before it is known who sends them', async (t) => {
    const seen: string[] = []
    const take: Route = {
      path: '/take',
      methods: ['PUT'],
      async handle({ raw }, response) {
        for await (const chunk of raw as AsyncIterable<Buffer>) seen.push(String(chunk))
        sendText(response, 200, 'taken')
      },
    }
    const { server, credentials } = await start(t, { routes: [take] })
    const head = 'PUT /take HTTP/1.1\r\nHost: n\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n'
    assert.match(await send(server, head), /^HTTP\/1.1 401 /)
    assert.match(
      await send(server, `${head}bodyGET / HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n`, credentials),
      /^HTTP\/1.1 100 .*HTTP\/1.1 200 .*taken.*404/s,
    )
    assert.deepEqual(seen, ['body'])
    const large = 'PUT /take HTTP/1.1\r\nHost: n\r\nContent-Length: 9999999\r\n\r\n'
    assert.match(await send(server, large, credentials), /^HTTP\/1.1 413 /)
  })
})

describe('requests', () => {
  test('that a client gives up are notified of it, and counted as ended', async (t) => {
    const started = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const wait: Route = {
      path: '/containerLogs/:namespace/:pod/:container',
      methods: ['GET'],
      async handle({ signal }) {
        started.resolve()
        await once(signal, 'abort')
        left.resolve()
        throw signal.reason
      },
    }
    const { server, credentials } = await start(t, { routes: [wait] })
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...credentials })
    socket.write('GET /containerLogs/n/p/c HTTP/1.1\r\nHost: n\r\n\r\n')
    await started.promise
    socket.destroy()
    await left.promise
    while (server.inFlight() > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(
      server.audits.map(({ path, code }) => [path, code]),
      [['/containerLogs/n/p/c', 499]],
    )
  })

  test('end with the server', async (t) => {
    const started = Promise.withResolvers<void>()
    const wait: Route = {
      path: '/wait',
      methods: ['GET'],
      async handle({ signal }, response) {
        response.write('x')
        started.resolve()
        await once(signal, 'abort')
        throw signal.reason
      },
    }
    const { server, credentials } = await start(t, { routes: [wait] })
    const answer = assert.rejects(server.ask('/wait', credentials))
    await started.promise
    server.stop()
    await server.running
    await answer
  })

  test('are counted under labels from closed sets', async (t) => {
    const { server, credentials } = await start(t, { routes: [hello] })
    await server.ask('/hello', credentials)
    await server.ask('/made-up', { method: 'PROPFIND' })
    assert.deepEqual(server.requests, [
      { method: 'GET', path: 'hello', serverType: 'readwrite', longRunning: false },
      { method: 'other', path: 'other', serverType: 'readwrite', longRunning: false },
    ])
  })
})
