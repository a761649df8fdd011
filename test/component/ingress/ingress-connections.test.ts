import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as startRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as startSecureRequest } from 'node:https'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { createFallbackCertificate } from '../../../src/controllers/network/ingress/certificate-table.ts'
import { IngressProxy } from '../../../src/controllers/network/ingress/ingress-proxy.ts'
import { halfOpenClients } from '../../fixtures/half-open-clients.ts'
import { servePod } from './create-ingress-world.ts'

const LIMITS = { all: 60, replaceable: 20, perAddress: 30 }

/** An ingress that passes everything on to one pod. */
async function openProxy(t: TestContext, podPort: number) {
  const proxy = new IngressProxy({
    clock: systemClock,
    log: silentLogger,
    connections: LIMITS,
    fallbackCertificate: () => createFallbackCertificate(systemClock.now()),
    targetsOf: () => [{ address: '127.0.0.1', port: podPort, isLocal: true }],
  })
  t.after(() => proxy.close())
  proxy.route({ hosts: new Map(), fallback: { kind: 'service', namespace: 'default', name: 'web', port: 80 } })
  assert.deepEqual(await proxy.open({ http: 0, https: 0 }), [])
  return { http: proxy.ports.http ?? 0, https: proxy.ports.https ?? 0 }
}

async function bodyOf(outgoing: ClientRequest): Promise<string> {
  const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage]
  return await text(response)
}

const ask = (port: number) => bodyOf(startRequest({ host: '127.0.0.1', port, agent: false }))
const askSecurely = (port: number) =>
  bodyOf(startSecureRequest({ host: '127.0.0.1', port, agent: false, rejectUnauthorized: false }))

/** A hundred clients that sit there, as far as the server lets them. */
async function sit(t: TestContext, begin: () => Socket): Promise<void> {
  for (let count = 0; count < 100; count++) {
    const socket = begin()
    t.after(() => socket.destroy())
    socket.on('error', () => {}).resume()
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  }
}

describe('the ingress serves others while many a client', () => {
  for (const [name, begin] of Object.entries(halfOpenClients))
    test(name, async (t) => {
      const ports = await openProxy(t, await servePod(t, (_, response) => response.end('web')))
      await sit(t, () => begin(ports.https))
      assert.equal(await askSecurely(ports.https), 'web')
      await sit(t, () => connect(ports.http, '127.0.0.1'))
      assert.equal(await ask(ports.http), 'web')
    })
})

test('the ingress ends no request for clients that only sit there, nor keeps others out for one with many requests', async (t) => {
  const pod = await servePod(t, (request, response) => {
    if (request.method === 'POST') request.pipe(response)
    else response.end('web')
  })
  const { http: port } = await openProxy(t, pod)
  const upload = startRequest({ host: '127.0.0.1', port, method: 'POST', agent: false })
  upload.write('first')
  const [response] = (await once(upload, 'response')) as [IncomingMessage]
  const slowly = 'POST / HTTP/1.1\r\nHost: n\r\nContent-Length: 10000\r\n\r\nx'
  await sit(t, () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' })
    socket.write(slowly)
    return socket
  })
  await sit(t, () => connect({ host: '127.0.0.1', port }))
  assert.equal(await ask(port), 'web')
  upload.end(', second')
  assert.equal(await text(response), 'first, second')
})
