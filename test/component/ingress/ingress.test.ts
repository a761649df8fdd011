import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect, createServer as createNetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { createKeys, toKeyPem } from '../../../src/protocols/x509/certificate-files.ts'
import { issueAuthority } from '../../../src/protocols/x509/issue-certificate.ts'
import { createIngressWorld, ingressFor, servePod } from './create-ingress-world.ts'
import type { IngressWorld } from './create-ingress-world.ts'

const good = ({ status }: { readonly status: number }) => status === 200

/** A world with a service "web" of one pod, and an Ingress for a.example. */
async function createWeb(t: TestContext, answer: Parameters<typeof servePod>[1]): Promise<IngressWorld> {
  const world = await createIngressWorld(t)
  await world.serve('web', await servePod(t, answer))
  await world.create('ingresses', ingressFor('web', 'a.example', 'web'))
  return world
}

describe('requests', () => {
  test('reach a pod with what it has to know of the client, and nothing that the client made up', async (t) => {
    const world = await createWeb(t, (request, response) => {
      response.writeHead(201, 'Made', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Seen', request.url ?? ''])
      response.end(JSON.stringify(request.headers))
    })
    const headers = { 'x-forwarded-for': '10.9.9.9', 'x-own': '1', connection: 'x-own' }
    const reply = await world.until('a.example/x?y=z', ({ status }) => status === 201, { headers })
    assert.deepEqual(reply.headers['set-cookie'], ['a=1', 'b=2'])
    assert.equal(reply.headers['x-seen'], '/x?y=z')
    const seen = JSON.parse(reply.body) as Record<string, string>
    assert.deepEqual(
      [seen['host'], seen['x-forwarded-for'], seen['x-forwarded-proto'], seen['x-forwarded-port'], seen['x-own']],
      ['a.example', '127.0.0.1', 'http', String(world.ports.http), undefined],
    )
    const other = await world.ask('b.example/')
    assert.deepEqual([other.status, other.body], [404, '404 no Ingress is for this host and path\n'])
  })

  test('bodies stream both ways, without a length and with one', async (t) => {
    const world = await createWeb(t, (request, response) => void request.pipe(response))
    await world.until('a.example/', good)
    const outgoing = world.start('a.example/', { method: 'POST' })
    outgoing.write('first')
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const [first] = (await once(response, 'data')) as [Buffer]
    assert.equal(String(first), 'first')
    outgoing.end('second')
    assert.equal(await text(response), 'second')
    const large = 'x'.repeat(3_000_000)
    const { body, status } = await world.ask('a.example/', { method: 'PUT', body: large })
    assert.deepEqual([status, body.length], [200, large.length])
    // A body that a GET should not have is passed on as one, not as the next request.
    const sized = { 'transfer-encoding': 'chunked' }
    assert.equal((await world.ask('a.example/', { headers: sized, body: 'GET / HTTP/1.1\r\n\r\n' })).body.length, 18)
  })

  test('the pods of a service take turns; connections to them are kept', async (t) => {
    const ports = new Set<number | undefined>()
    const pod = (name: string) =>
      servePod(t, (request, response) => {
        ports.add(request.socket.remotePort)
        response.end(name)
      })
    const world = await createIngressWorld(t)
    await world.serve('web', await pod('one'), await pod('two'))
    await world.create('ingresses', ingressFor('web', 'a.example', 'web'))
    await world.until('a.example/', good)
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const bodies: string[] = []
    for (let index = 0; index < 20; index++) bodies.push((await world.ask('a.example/', { agent })).body)
    assert.equal(bodies.filter((body) => body === 'one').length, 10)
    assert.equal(ports.size, 2)
  })

  test('a pod that takes no connection is passed by, and a kept connection that the pod closed is made again', async (t) => {
    const world = await createWeb(t, (_, response) => response.end('old'))
    await world.until('a.example/', good)
    const closed = createServer()
    closed.listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port: gone } = closed.address() as AddressInfo
    closed.close()
    const pod = await servePod(t, (_, response) => response.end('new'))
    await world.serve('web', gone, pod)
    for (const method of ['GET', 'POST'])
      for (let index = 0; index < 4; index++)
        assert.equal((await world.ask('a.example/', { method, body: method === 'POST' ? 'x' : '' })).body, 'new')
    await world.serve('web', gone)
    assert.equal((await world.ask('a.example/')).status, 502)

    // It answers once on each connection and closes it when the next request has come.
    const requests = new Map<Socket, number>()
    const hasty = await servePod(t, (request, response) => {
      const count = (requests.get(request.socket) ?? 0) + 1
      requests.set(request.socket, count)
      if (count > 1) request.socket.destroy()
      else response.end('once')
    })
    await world.serve('web', hasty)
    for (let index = 0; index < 5; index++) assert.equal((await world.ask('a.example/')).body, 'once')
  })

  test('503 without endpoints or a service; a broken answer is broken for the client', async (t) => {
    const world = await createWeb(t, (_, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('12345', () => response.destroy())
    })
    await world.create('ingresses', ingressFor('none', 'none.example', 'missing'))
    assert.match((await world.until('none.example/', ({ status }) => status === 503)).body, /no endpoint/)
    await world.untilEvent('BadBackend', /the service missing does not exist/)
    await assert.rejects(
      world.until('a.example/', () => true),
      /aborted/,
    )
    await world.serve('web')
    assert.equal((await world.ask('a.example/')).status, 503)
    await world.serve('missing', await servePod(t, (_, response) => response.end('now')))
    assert.equal((await world.until('none.example/', good)).body, 'now')
  })

  test('a client that leaves takes its request with it, and one that sends too much or nothing is let go', async (t) => {
    const left = Promise.withResolvers<void>()
    const world = await createWeb(t, (request, response) => {
      if (request.url !== '/slow') return void response.end('ok')
      request.socket.once('close', () => left.resolve())
    })
    await world.until('a.example/', good)
    const outgoing = world.start('a.example/slow')
    outgoing.on('error', () => {})
    outgoing.end()
    setTimeout(() => outgoing.destroy(), 50)
    await left.promise
    assert.equal((await world.ask('a.example/', { headers: { big: 'x'.repeat(40_000) } })).status, 431)
    const raw = connect(world.ports.http ?? 0, '127.0.0.1')
    raw.end('GET / HTTP/1.1\r\nHost: a@b\r\n\r\n')
    assert.match(await text(raw), /^HTTP\/1\.1 400 /)
    const smuggled = connect(world.ports.http ?? 0, '127.0.0.1')
    smuggled.end(
      'POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    )
    assert.match(await text(smuggled), /^HTTP\/1\.1 400 /)
  })
})

describe('upgrades', () => {
  async function serveEcho(t: TestContext): Promise<number> {
    const server = createServer((_, response) => response.writeHead(403).end('no'))
    const sockets: Socket[] = []
    server.on('upgrade', (request, socket: Socket) => {
      sockets.push(socket)
      socket.on('error', () => {})
      if (request.url === '/refused') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhello `,
      )
      socket.pipe(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }

  test('bytes pass both ways until one side ends', async (t) => {
    const world = await createIngressWorld(t)
    await world.serve('web', await serveEcho(t))
    await world.create('ingresses', ingressFor('web', 'a.example', 'web'))
    await world.until('a.example/', ({ status }) => status === 403)
    for (const isSecure of [false, true]) {
      const outgoing = world.start('a.example/', { headers: upgrade, isSecure })
      outgoing.end()
      const [response, socket, head] = (await once(outgoing, 'upgrade')) as [IncomingMessage, Socket, Buffer]
      assert.deepEqual([response.statusCode, response.headers.upgrade], [101, 'websocket'])
      socket.end('world')
      assert.equal(`${head.toString()}${await text(socket)}`, 'hello world')
    }
    // curl asks for HTTP/2 like this; it is an ordinary request.
    const plain = await world.ask('a.example/', { headers: { connection: 'Upgrade', upgrade: 'h2c' } })
    assert.equal(plain.status, 403)
  })

  test('a refusal is passed on, and what has no route gets an answer', async (t) => {
    const world = await createIngressWorld(t)
    await world.serve('web', await serveEcho(t))
    await world.create('ingresses', ingressFor('web', 'a.example', 'web'))
    await world.until('a.example/', ({ status }) => status === 403)
    const refused = await world.ask('a.example/refused', { headers: upgrade })
    assert.deepEqual([refused.status, refused.body], [403, 'no'])
    assert.equal((await world.ask('b.example/', { headers: upgrade })).status, 404)
    await world.serve('web')
    assert.equal((await world.ask('a.example/', { headers: upgrade })).status, 503)
  })
})

describe('certificates', () => {
  async function secretOf(name: string, commonName: string) {
    const keys = createKeys()
    const pem = await issueAuthority(keys, { commonName, lifetimeMs: 3_600_000 }, Date.now())
    const data = {
      'tls.crt': Buffer.from(pem).toString('base64'),
      'tls.key': Buffer.from(toKeyPem(keys.privateKey)).toString('base64'),
    }
    return { metadata: { name }, type: 'kubernetes.io/tls', data }
  }
  async function subjectFor(world: IngressWorld, servername?: string): Promise<string> {
    const socket = connectTls({
      port: world.ports.https ?? 0,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...(servername !== undefined && { servername }),
    })
    await once(socket, 'secureConnect')
    const { raw } = socket.getPeerCertificate()
    socket.destroy()
    return new X509Certificate(raw).subject
  }
  async function untilSubject(world: IngressWorld, name: string | undefined, subject: string): Promise<void> {
    const end = performance.now() + 10_000
    for (;;) {
      const found = await subjectFor(world, name)
      if (found === `CN=${subject}`) return
      if (performance.now() > end) throw new Error(`${name}: ${found}`)
    }
  }

  test('are chosen by the name that clients ask for, change with their secret, and a bad one harms no other', async (t) => {
    const world = await createWeb(t, (request, response) => response.end(request.headers['x-forwarded-proto']))
    await world.create('secrets', await secretOf('one', 'one'))
    await world.create('secrets', await secretOf('wild', 'wild'))
    const broken = await secretOf('bad', 'bad')
    const other = await secretOf('x', 'x')
    const data = { ...broken.data, 'tls.key': other.data['tls.key'] }
    await world.create('secrets', { ...broken, data })
    const tls = [
      { hosts: ['one.example'], secretName: 'one' },
      { hosts: ['*.wild.example'], secretName: 'wild' },
      { hosts: ['bad.example'], secretName: 'bad' },
      { hosts: ['gone.example'], secretName: 'gone' },
    ]
    await world.create('ingresses', ingressFor('tls', 'one.example', 'web', { tls }))
    await untilSubject(world, 'one.example', 'one')
    await untilSubject(world, 'a.wild.example', 'wild')
    const fallback = 'Deckhand ingress without a certificate'
    for (const name of ['wild.example', 'a.b.wild.example', 'bad.example', 'gone.example', 'other.example', undefined])
      assert.equal(await subjectFor(world, name), `CN=${fallback}`)
    await world.untilEvent(
      'BadCertificate',
      /^bad\.example: .* the secret default\/bad has no certificate with its key/,
    )
    await world.untilEvent('BadCertificate', /^gone\.example: .* there is no secret default\/gone/)
    assert.equal((await world.until('one.example/', good, { isSecure: true })).body, 'https')
    const renewed = await secretOf('one', 'renewed')
    await world.patch('secrets', 'one', { data: renewed.data })
    await untilSubject(world, 'one.example', 'renewed')
    await world.create('secrets', await secretOf('gone', 'came'))
    await untilSubject(world, 'gone.example', 'came')
    await world.create('ingresses', ingressFor('all', '', 'web', { tls: [{ secretName: 'wild' }] }))
    await untilSubject(world, undefined, 'wild')
    await untilSubject(world, 'other.example', 'wild')
  })
})

describe('what Ingresses say', () => {
  test('their address once, conflicts, and what cannot be used; and the address goes with the class', async (t) => {
    const world = await createWeb(t, (_, response) => response.end('web'))
    await world.until('a.example/', good)
    await world.untilEvent('Sync', /^Served at 192\.0\.2\.1, port \d+ and \d+$/)
    const { status, metadata } = await world.get('web')
    const ports = [world.ports.http, world.ports.https].map((port) => ({ port, protocol: 'TCP' }))
    assert.deepEqual(status.loadBalancer, { ingress: [{ ip: '192.0.2.1', ports }] })
    const other = await servePod(t, (_, response) => response.end('other'))
    await world.serve('other', other)
    // The oldest wins, and those of one second by name.
    await world.create('ingresses', ingressFor('zzz', 'a.example', 'other'))
    const conflict = await world.untilEvent('ConflictingPath', /a\.example, path \/: it belongs to default\/web/)
    assert.equal(conflict.involvedObject.name, 'zzz')
    assert.equal((await world.ask('a.example/')).body, 'web')
    const resource = { apiGroup: 'example.com', kind: 'Bucket', name: 'b' }
    const paths = [{ path: '/', pathType: 'Prefix', backend: { resource } }]
    const spec = { rules: [{ host: 'r.example', http: { paths } }] }
    await world.create('ingresses', { metadata: { name: 'resource' }, spec })
    await world.untilEvent('UnsupportedBackend', /kind Bucket/)
    assert.equal((await world.ask('r.example/')).status, 503)
    assert.equal((await world.get('web')).metadata.resourceVersion, metadata.resourceVersion)
    await world.patch('ingresses', 'web', { spec: { ingressClassName: 'another' } })
    assert.equal((await world.until('a.example/', ({ body }) => body === 'other')).status, 200)
    const end = performance.now() + 5000
    while ((await world.get('web')).status.loadBalancer.ingress !== undefined)
      assert.ok(performance.now() < end, 'it still has the address')
    const before = world.events.length
    await world.patch('ingresses', 'resource', { metadata: { labels: { a: 'b' } } })
    await world.patch('services', 'web', { spec: { ports: [{ port: 81, name: 'http' }] } })
    await world.until('a.example/', good)
    assert.equal(world.events.length, before)
  })
})

/** A listener of another program, or of the API; gives the port. */
async function occupy(t: TestContext, options: { readonly host?: string; readonly reusePort?: boolean } = {}) {
  const server = createNetServer((socket) => socket.end('other'))
  server.listen({ port: 0, ...options })
  await once(server, 'listening')
  const leave = () => new Promise((resolve) => server.close(resolve))
  t.after(leave)
  return { port: (server.address() as AddressInfo).port, leave }
}

describe('ports', () => {
  test('one that the API has at the address of its service is open at all others', async (t) => {
    const { port } = await occupy(t, { host: '127.0.0.9', reusePort: true })
    const world = await createIngressWorld(t, { ports: { http: port, https: undefined }, sharedPort: port })
    assert.deepEqual(world.results, [{ open: { http: port, https: undefined }, problems: [] }])
    assert.equal((await world.ask('a.example/')).status, 404)
    for (const host of ['127.0.0.8', '[::1]']) assert.equal((await fetch(`http://${host}:${port}/`)).status, 404)
    for (let count = 0; count < 20; count += 1) assert.equal(await text(connect(port, '127.0.0.9')), 'other')
  })

  test('one that is taken is said, leaves the other alone, and is taken as soon as it is free', async (t) => {
    const other = await occupy(t)
    const world = await createIngressWorld(t, { ports: { http: 0, https: other.port } })
    const why = 'it is taken by another program'
    assert.deepEqual(world.results[0]?.problems, [{ protocol: 'https', port: other.port, why }])
    await world.serve('web', await servePod(t, (_request, response) => response.end('pod')))
    await world.create('ingresses', ingressFor('plain', 'a.example', 'web'))
    const tls = [{ hosts: ['b.example'], secretName: 'none' }]
    await world.create('ingresses', ingressFor('secure', 'b.example', 'web', { tls }))
    await world.until('b.example/', good)
    const { involvedObject } = await world.untilEvent('NotServed', /./)
    assert.equal(involvedObject.name, 'secure')
    assert.deepEqual(
      world.events.filter(({ reason }) => reason === 'NotServed').map(({ message }) => message),
      [`HTTPS on port ${other.port} is not served: ${why}`],
    )
    await world.untilEvent('Sync', new RegExp(`port ${world.ports.http}$`))
    await other.leave()
    await world.untilEvent('Sync', new RegExp(`port ${world.ports.http} and ${other.port}$`))
    assert.equal((await world.ask('a.example/', { isSecure: true })).status, 200)
    assert.equal(world.results.length, 2)
  })

  test('without any that is open there is no address', async (t) => {
    const { port } = await occupy(t)
    const world = await createIngressWorld(t, { ports: { http: undefined, https: port } })
    await world.create('ingresses', ingressFor('web', 'a.example', 'web'))
    await world.untilEvent('NotServed', new RegExp(`^HTTPS on port ${port} is not served`))
    assert.deepEqual((await world.get('web'))['status'], { loadBalancer: {} })
  })
})
