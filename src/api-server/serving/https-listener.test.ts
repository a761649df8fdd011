import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { constants, connect as connectHttp2 } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { connect as connectPlain, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { connect } from 'node:tls'
import { halfOpenClients, lifeOf, SHORT_DEADLINES } from '../../../test/fixtures/half-open-clients.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { systemClock } from '../../base/async/clock.ts'
import { createKeys, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import { issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import { ANONYMOUS_USER } from '../auth/user-names.ts'
import { openPki } from '../pki/open-pki.ts'
import type { Pki } from '../pki/open-pki.ts'
import { ensureServingCertificate } from '../pki/serving-certificate.ts'
import { textResponse } from '../rest/api-request.ts'
import type { ApiRequest } from '../rest/api-request.ts'
import { HttpsListener } from './https-listener.ts'
import type { ListenerDeps } from './https-listener.ts'

interface Started {
  readonly listener: HttpsListener
  readonly pki: Pki
  readonly port: number
}

async function start(t: TestContext, change: Partial<ListenerDeps> = {}): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-listener-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const deps = { clock: systemClock, log: silentLogger }
  const pki = await openPki(folder, deps)
  const listener = new HttpsListener({
    ...deps,
    api: { handle: () => Promise.resolve(textResponse(200, '{}')) },
    authenticate: () => ANONYMOUS_USER,
    upgrade: () => Promise.resolve(),
    authorityPem: pki.authority.pem,
    certificate: await ensureServingCertificate(pki, [], deps),
    ...change,
  })
  const port = await listener.listen('127.0.0.1', 0)
  t.after(() => listener.close())
  return { listener, pki, port }
}

/** A connection of HTTP/2 that knows the server's settings. */
async function open(t: TestContext, { port, pki }: Started): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: pki.authority.pem })
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

describe('HttpsListener', () => {
  test('shares the port of one address with a listener of all others', async (t) => {
    const { listener, pki } = await start(t)
    const other = createServer((socket) => socket.end('other'))
    t.after(() => other.close())
    other.listen({ port: 0, reusePort: true })
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    await assert.rejects(listener.alsoListen('127.0.0.9', port), { code: 'EADDRINUSE' })
    await listener.alsoListen('127.0.0.9', port, { sharesPort: true })
    for (let count = 0; count < 10; count += 1) {
      const socket = connect({ port, host: '127.0.0.9', ca: pki.authority.pem, servername: 'localhost' })
      await once(socket, 'secureConnect')
      socket.destroy()
      assert.equal(await text(connectPlain(port, '127.0.0.1')), 'other')
    }
  })

  test('shows another certificate after a reload, without an end', async (t) => {
    const { listener, pki, port } = await start(t)
    const second = await ensureServingCertificate(pki, ['b'], { clock: systemClock, log: silentLogger })
    const serialNumber = async () => {
      const socket = connect({ port, host: '127.0.0.1', ca: pki.authority.pem, servername: 'localhost' })
      await once(socket, 'secureConnect')
      const serial = socket.getPeerX509Certificate()?.serialNumber
      socket.destroy()
      return serial
    }
    assert.notEqual(await serialNumber(), second.certificate.serialNumber)
    listener.reload(second)
    assert.equal(await serialNumber(), second.certificate.serialNumber)
  })

  test('says which address is taken', async (t) => {
    const { port } = await start(t)
    const two = await start(t)
    await two.listener.close()
    await assert.rejects(
      two.listener.listen('127.0.0.1', port),
      new RegExp(`Cannot serve the API on 127.0.0.1:${port}`),
    )
  })

  test('speaks HTTP/2 with those who can and HTTP/1.1 with others, and knows neither by headers of its own', async (t) => {
    const seen: object[] = []
    const handle = (request: ApiRequest) => {
      seen.push([request.method, request.target, request.headers['host'], Object.keys(request.headers).join()])
      return Promise.resolve(textResponse(200, '{}'))
    }
    const started = await start(t, { api: { handle } })
    const session = await open(t, started)
    const stream = session.request({ ':path': '/a?b', 'x-c': 'd' })
    await once(stream.resume(), 'end')
    const socket = connect({ port: started.port, host: '127.0.0.1', ca: started.pki.authority.pem })
    socket.write('GET /a?b HTTP/1.1\r\nHost: e\r\nX-C: d\r\nConnection: close\r\n\r\n')
    await once(socket.resume(), 'end')
    assert.deepEqual(seen, [
      ['GET', '/a?b', `127.0.0.1:${started.port}`, 'host,x-c'],
      ['GET', '/a?b', 'e', 'host,x-c,connection'],
    ])
  })

  test('reads the certificate of a client once for all requests of its connection', async (t) => {
    const seen: unknown[] = []
    const { pki, port } = await start(t, {
      authenticate({ certificate }) {
        seen.push(certificate)
        return ANONYMOUS_USER
      },
    })
    const keys = createKeys()
    const content = { commonName: 'jane', organizations: [], names: [], lifetimeMs: 3_600_000 }
    const cert = await issueCertificate(
      pki.authority,
      { ...content, publicKey: keys.publicKey, usages: ['client'] },
      Date.now(),
    )
    const identity = { ca: pki.authority.pem, cert, key: toKeyPem(keys.privateKey) }
    const session = connectHttp2(`https://127.0.0.1:${port}`, identity)
    t.after(() => session.destroy())
    for (const path of ['/a', '/b']) await once(session.request({ ':path': path }).resume(), 'end')
    const agent = new Agent({ ...identity, keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    for (const path of ['/a', '/b']) {
      const sent = get({ port, host: '127.0.0.1', path, agent })
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      await once(answer.resume(), 'end')
    }
    assert.equal(seen.length, 4)
    assert.ok(seen.every((certificate) => certificate !== undefined))
    assert.equal(new Set(seen).size, 2)
  })

  test('ends a stream of HTTP/2 whose body does not come', async (t) => {
    const clock = new FakeClock()
    const handle = async ({ readBody }: ApiRequest) => {
      await readBody(100)
      return textResponse(200, '{}')
    }
    const session = await open(t, await start(t, { api: { handle }, clock }))
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    stream.on('error', () => {})
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.write('{')
    while (clock.sleeping === 0) await setImmediate()
    await clock.advance(60_000)
    await closed
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL)
    const whole = session.request({ ':method': 'POST', ':path': '/' })
    whole.end('{}')
    await once(whole.resume(), 'end')
    assert.equal(clock.sleeping, 0)
  })

  test('a broken answer does not appear complete', async (t) => {
    async function* body() {
      yield 'some'
      throw new Error('broken')
    }
    const handle = () => Promise.resolve({ status: 200, headers: {}, body: body() })
    const session = await open(t, await start(t, { api: { handle } }))
    const stream = session.request({ ':path': '/' })
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, /NGHTTP2_INTERNAL_ERROR/)
  })

  for (const [name, isEndless] of [
    ['lets answers end when it closes', false],
    ['cuts answers that do not end when it closes', true],
  ] as const) {
    test(name, async (t) => {
      const clock = new FakeClock()
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const handle = async () => {
        asked.resolve()
        await released.promise
        return textResponse(200, '{"whole":true}')
      }
      const started = await start(t, { api: { handle }, clock })
      const [busy, idle] = [await open(t, started), await open(t, started)]
      const [busyEnd, idleEnd] = [busy, idle].map((each) => new Promise((resolve) => each.once('close', resolve)))
      const stream = busy.request({ ':path': '/' })
      stream.setEncoding('utf8').on('error', () => {})
      await asked.promise
      const closing = started.listener.close()
      await idleEnd
      if (isEndless) await clock.advance(700)
      else released.resolve()
      if (!isEndless) assert.equal((await stream.toArray()).join(''), '{"whole":true}')
      await Promise.all([closing, busyEnd])
      assert.equal(clock.sleeping, 0)
    })
  }
})

describe('a client that begins and does not go on', () => {
  const clients = {
    ...halfOpenClients,
    'speaks HTTP/2 and asks for nothing': (port: number) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
      return socket
    },
  }
  for (const [name, begin] of Object.entries(clients))
    test(`${name}: its connection ends in time`, async (t) => {
      const { port } = await start(t, { deadlines: SHORT_DEADLINES })
      assert.ok((await lifeOf(begin(port))) < 3000)
    })
})
