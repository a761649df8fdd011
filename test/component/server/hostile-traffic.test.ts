import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { describe, test } from 'node:test'
import { connect } from 'node:tls'
import * as fc from 'fast-check'
import type { Route } from '../../../src/serving/http/route.ts'
import { sendText } from '../../../src/serving/http/send-answer.ts'
import { CLIENT_AUTH, createTestCertificate } from '../../builders/create-test-authority.ts'
import { halfOpenClients, lifeOf, SHORT_DEADLINES } from '../../fixtures/half-open-clients.ts'
import { startKubeletServer } from './start-kubelet-server.ts'
import type { ServerUnderTest } from './start-kubelet-server.ts'

const reached: string[] = []
const routes: readonly Route[] = ['/pods', '/exec/:namespace/:pod/:container', '/logs/*path'].map((path) => ({
  path,
  methods: ['GET'],
  async handle({ caller }, response) {
    reached.push(caller.name)
    sendText(response, 200, 'reached')
  },
}))

async function createCredentials(server: ServerUnderTest) {
  const subject = [{ CN: ['jane'] }]
  const client = await createTestCertificate({ subject, issuer: server.authority, usages: [CLIENT_AUTH] })
  return { cert: client.certificatePem, key: client.keyPem }
}

const LAST = 'GET /end HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n'

/** Sends bytes as they are; gives the statuses of all answers until the connection is closed. */
async function statusesOf(server: ServerUnderTest, text: string, credentials: object = {}): Promise<number[]> {
  const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...credentials })
  socket.on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.write(text, 'latin1')
  await once(socket, 'close')
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => Number(code))
}

describe('hostile traffic', () => {
  test('random requests of unknown clients reach nothing, and leave nothing behind', async (t) => {
    const server = await startKubeletServer(t, { routes })
    reached.length = 0
    const segment = fc.oneof(
      fc.constantFrom('pods', 'exec', 'logs', '..', '.', '', '%2e%2e', '%2f', 'n', 'a%00', '%zz', '*', '\\'),
      fc.string({ maxLength: 8 }).map(encodeURIComponent),
    )
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND')
    const path = fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`)
    const requests = fc.sample(fc.tuple(method, path), 2000)
    const text = (group: typeof requests) =>
      `${group.map(([name, target]) => `${name} ${target} HTTP/1.1\r\nHost: n\r\n\r\n`).join('')}${LAST}`
    const groups = Array.from({ length: 10 }, (_, index) => requests.slice(index * 200, (index + 1) * 200))
    const answers = (await Promise.all(groups.map((group) => statusesOf(server, text(group))))).flat()
    assert.deepEqual(new Set(answers), new Set([401]))
    assert.equal(answers.length, 2010)
    assert.deepEqual(reached, [])
    assert.equal(server.inFlight(), 0)
    const credentials = await createCredentials(server)
    assert.equal((await server.ask('/pods', credentials)).status, 200)
  })

  test('a request for a protocol that the endpoint does not speak is answered, and ends its connection', async (t) => {
    const server = await startKubeletServer(t, { routes })
    const credentials = await createCredentials(server)
    const asking = 'GET /pods HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    assert.deepEqual(await statusesOf(server, asking + LAST, credentials), [200])
    assert.deepEqual(await statusesOf(server, asking + LAST), [401])
  })

  const smuggled = `GET /pods HTTP/1.1\r\nHost: n\r\n\r\n${LAST}`
  const attempts: readonly (readonly [name: string, text: string])[] = [
    ['two lengths', 'POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde'],
    [
      'a length and chunks',
      `POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['an odd encoding', `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a space before the colon', `POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length : 4\r\n\r\nabcd${smuggled}`],
    ['a folded header', `GET /pods HTTP/1.1\r\nHost: n\r\nX: a\r\n b\r\n\r\n${smuggled}`],
    ['line feeds alone', `GET /pods HTTP/1.1\nHost: n\n\n${smuggled}`],
    ['a bad chunk', `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n${smuggled}`],
    ['no host', `GET /pods HTTP/1.1\r\n\r\n${LAST}`],
    ['a header that is too long', `GET /pods HTTP/1.1\r\nHost: n\r\nX: ${'a'.repeat(300 * 1024)}\r\n\r\n`],
    ['a path that is too long', `GET /${'a'.repeat(300 * 1024)} HTTP/1.1\r\nHost: n\r\n\r\n`],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['noise', '\0\x01\x02\xff\r\n\r\n'],
    ['a tunnel', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: n\r\n\r\n'],
  ]
  test('what two readers could take for different requests is refused, also from authorized clients', async (t) => {
    const server = await startKubeletServer(t, { routes })
    const credentials = await createCredentials(server)
    for (const [name, text] of attempts) {
      reached.length = 0
      const codes = await statusesOf(server, text, credentials)
      assert.ok(
        codes.length <= 1 && codes.every((code) => code === 400 || code === 405 || code === 431),
        `${name}: ${codes.join(', ')}`,
      )
      assert.deepEqual(reached, [], name)
    }
    assert.equal((await server.ask('/pods', credentials)).status, 200)
  })

  test('idle connections do not keep clients out', async (t) => {
    const server = await startKubeletServer(t, { routes, limits: { all: 400, replaceable: 50 } })
    const credentials = await createCredentials(server)
    const sitting = Array.from({ length: 150 }, () => createConnection({ host: '127.0.0.1', port: server.port }))
    t.after(() => sitting.forEach((socket) => socket.destroy()))
    for (const socket of sitting) socket.on('error', () => {})
    await Promise.all(sitting.map((socket) => once(socket, 'connect').catch(() => {})))
    assert.equal((await server.ask('/pods', credentials)).status, 200)
    // The oldest connections are closed; later ones may still be open.
    while (sitting.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length < 100) {
      for (const socket of sitting) socket.resume()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal((await server.ask('/pods', credentials)).status, 200)
  })
})

describe('a client that begins and does not go on', () => {
  for (const [name, begin] of Object.entries(halfOpenClients))
    test(`${name}: its connection ends in time`, async (t) => {
      const server = await startKubeletServer(t, { routes, deadlines: SHORT_DEADLINES })
      assert.ok((await lifeOf(begin(server.port))) < 3000)
    })
})
