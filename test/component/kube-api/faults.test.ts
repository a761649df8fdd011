import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { constants } from 'node:http2'
import type { ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ApiReturn } from '../../../src/protocols/kube-api/list-watch/api-return.ts'
import { runListWatch } from '../../../src/protocols/kube-api/list-watch/run-list-watch.ts'
import type { WatchEvent } from '../../../src/protocols/kube-api/kube-client.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { selfSigned } from '../../fixtures/self-signed.ts'
import { createTestClient, until } from './create-test-client.ts'
import type { TestClientOptions } from './create-test-client.ts'
import { beginWatch, json, OBJECT, ScriptedServer, Wire } from './scripted-server.ts'
import type { Answer } from './scripted-server.ts'

const never = new AbortController().signal
const get = { method: 'GET', path: '/api/v1/nodes/a' } as const
const post = { method: 'POST', path: '/api/v1/nodes', body: { kind: 'Node' } } as const
const unreachable = { name: 'KubeUnreachableError' }

async function setUp(
  t: TestContext,
  options: { readonly maxStreams?: number; readonly client?: Partial<TestClientOptions> } = {},
) {
  const server = new ScriptedServer(options)
  await server.listen(t)
  const clock = new FakeClock()
  return { server, clock, ...createTestClient(t, { port: server.port, clock, ...options.client }) }
}

/** Follows a watch; says how it ended. */
function follow(events: AsyncIterable<WatchEvent>) {
  const heard: WatchEvent[] = []
  const run = async () => {
    for await (const event of events) heard.push(event)
  }
  const end = run()
  end.catch(() => {})
  return { heard, end }
}

/** Breaks the connection in the middle of an answer. */
function cutOff(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200 })
  stream.write('{"a":', () => stream.session?.destroy())
}

describe('an answer', () => {
  test('is decoded; the request carries all that was given', async (t) => {
    const { server, client, attempts, sizes } = await setUp(t)
    server.answers.push(json(201, '{"kind":"Node","big":9007199254740993}'))
    const request = { ...post, query: { fieldManager: 'kubelet', 'a b': 'c&d' } }
    assert.deepEqual(await client.send(request, never), { kind: 'Node', big: 9007199254740993n })
    const [{ method, target, headers, body } = assert.fail()] = server.seen
    assert.deepEqual(
      [method, target, body],
      ['POST', '/api/v1/nodes?fieldManager=kubelet&a+b=c%26d', '{"kind":"Node"}'],
    )
    assert.deepEqual(
      [headers['accept'], headers['content-type'], headers['user-agent']],
      ['application/json', 'application/json', 'kubelet/test'],
    )
    assert.deepEqual(attempts, ['POST 201'])
    assert.deepEqual(sizes, [['POST', 15, 38]])
  })

  test('that says when to come again is followed, for what creates too', async (t) => {
    const { server, clock, client, attempts } = await setUp(t)
    server.answers.push(json(429, 'slow down', { 'retry-after': '7' }))
    const sent = client.send(post, never)
    await until(() => attempts.length === 1)
    await clock.advance(6999)
    assert.equal(server.seen.length, 1)
    await clock.advance(1)
    assert.deepEqual(await sent, OBJECT)
    assert.deepEqual(attempts, ['POST 429', 'POST 200 again'])
  })

  test('that refuses is an error with its reason', async (t) => {
    const { server, client, attempts } = await setUp(t)
    server.answers.push(json(500, { kind: 'Status', code: 500, reason: 'InternalError', message: 'confused' }))
    await assert.rejects(client.send(get, never), {
      name: 'KubeApiError',
      code: 500,
      reason: 'InternalError',
      message: 'confused',
    })
    assert.deepEqual(attempts, ['GET 500'])
  })

  test('that is garbage is an error that does not quote it', async (t) => {
    const { server, client } = await setUp(t)
    server.answers.push(json(200, 'secret: [}'))
    await assert.rejects(client.send(get, never), {
      ...unreachable,
      message: 'Cannot GET "/api/v1/nodes/a": the answer of 10 characters is not JSON',
    })
    // Such as that of another server: an empty Node would reject every pod.
    server.answers.push(json(200, { type: 'ADDED', object: {} }))
    await assert.rejects(client.send(get, never), {
      ...unreachable,
      message: 'Cannot GET "/api/v1/nodes/a": the answer of 28 characters is no object of Kubernetes',
    })
    // A kubelet behind the API answers as it likes.
    server.answers.push(json(200, { pods: [] }))
    assert.deepEqual(await client.send({ ...get, path: `${get.path}/proxy/why` }, never), { pods: [] })
  })

  test('that breaks off is asked for again, but not for what creates', async (t) => {
    const { server, clock, client, attempts } = await setUp(t)
    server.answers.push(cutOff, json(200, { kind: 'Node', a: 1 }), cutOff)
    const read = client.send(get, never)
    await until(() => attempts.length === 1)
    await clock.advance(1000)
    assert.deepEqual(await read, { kind: 'Node', a: 1 })
    await assert.rejects(client.send(post, never), unreachable)
    assert.deepEqual(attempts, ['GET 200', 'GET 200 again', 'POST 200'])
    assert.equal(server.connections, 2)
  })

  test('that the server never began is asked for again at once, for what creates too', async (t) => {
    const { server, client, attempts } = await setUp(t)
    server.answers.push((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM))
    assert.deepEqual(await client.send(post, never), OBJECT)
    assert.deepEqual(attempts, ['POST <error>', 'POST 200 again'])
  })

  test('that does not come ends by the limit of the request, or by its caller', async (t) => {
    const { server, clock, client } = await setUp(t)
    server.answers.push(...Array(3).fill(() => {}))
    const limited = assert.rejects(client.send({ ...get, timeoutMs: 5000 }, never), {
      ...unreachable,
      message: 'Cannot GET "/api/v1/nodes/a": no answer after 5000 ms',
    })
    const patient = assert.rejects(client.send(get, never), {
      ...unreachable,
      message: 'Cannot GET "/api/v1/nodes/a": no answer after 70000 ms',
    })
    const leave = new AbortController()
    const left = assert.rejects(client.send(get, leave.signal), /no more/)
    await until(() => server.seen.length === 3)
    leave.abort(new Error('no more'))
    await left
    await clock.advance(5000)
    await limited
    // Pings go on meanwhile, so in steps that they can be answered in.
    for (let ms = 5000; ms < 70_000; ms += 5000) {
      await clock.advance(5000)
      await server.exchangePing()
    }
    await patient
  })
})

describe('connections', () => {
  test('carry as many requests as the server takes', async (t) => {
    const { server, client } = await setUp(t, { maxStreams: 3 })
    server.answers.push(...Array(7).fill(beginWatch(() => {})))
    const leave = new AbortController()
    const watches = Array.from({ length: 7 }, () => follow(client.watch({ path: '/api/v1/pods' }, leave.signal)))
    await until(() => server.seen.length === 7)
    assert.equal(server.connections, 3)
    leave.abort(new Error('no more'))
    for (const { end } of watches) await assert.rejects(end, /no more/)
    await client.send(get, never)
    assert.equal(server.connections, 3)
  })

  test('that the server leaves carry their watches to the end, and nothing new', async (t) => {
    const { server, client } = await setUp(t)
    const opened = Promise.withResolvers<ServerHttp2Stream>()
    server.answers.push(beginWatch(opened.resolve))
    const watch = follow(client.watch({ path: '/api/v1/pods' }, never))
    const stream = await opened.promise
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id)
    await until(() => server.seen.length === 1)
    while (server.connections === 1) await client.send(get, never)
    stream.end('{"type":"BOOKMARK","object":{"metadata":{}}}\n')
    await watch.end
    assert.equal(watch.heard.length, 1)
  })

  test('that break end all that runs on them', async (t) => {
    const { server, client, attempts } = await setUp(t)
    server.answers.push(
      beginWatch(() => {}),
      beginWatch(() => {}),
    )
    const watches = [1, 2].map(() => follow(client.watch({ path: '/api/v1/pods' }, never)))
    await until(() => attempts.length === 2)
    for (const session of server.sessions) session.goaway(constants.NGHTTP2_INTERNAL_ERROR)
    for (const { end } of watches) await assert.rejects(end, unreachable)
    assert.deepEqual(await client.send(get, never), OBJECT)
  })

  test('that are silent are found within 30 s, and new ones made', async (t) => {
    const server = new ScriptedServer({})
    await server.listen(t)
    const wire = new Wire(() => server.port)
    await wire.listen(t)
    const clock = new FakeClock()
    const { client } = createTestClient(t, { port: wire.port, clock })
    server.answers.push(beginWatch(() => {}))
    const watch = follow(client.watch({ path: '/api/v1/pods' }, never))
    await until(() => server.seen.length === 1)
    // While it lives, a ping is answered.
    await clock.advance(20_000)
    await until(() => server.pings === 1)
    await server.exchangePing()
    await clock.advance(10_000)
    wire.cut()
    await clock.advance(10_000)
    await clock.advance(9_999)
    wire.repair()
    await clock.advance(1)
    await assert.rejects(watch.end, {
      ...unreachable,
      message: 'Cannot GET "/api/v1/pods" on this connection: the server was silent for too long',
    })
    assert.deepEqual(await client.send(get, never), OBJECT)
    assert.equal(server.connections, 2)
  })

  test('that are idle are closed after some time', async (t) => {
    const { server, clock, client } = await setUp(t)
    await client.send(get, never)
    for (let round = 1; round <= 5; round += 1) {
      await clock.advance(20_000)
      await until(() => server.pings === round)
      await server.exchangePing()
    }
    await clock.advance(20_000)
    await until(() => server.sessions.size === 0)
    assert.deepEqual(await client.send(get, never), OBJECT)
  })

  test('all end on request, and with the client', async (t) => {
    const { server, client, attempts, transport, tasks } = await setUp(t)
    server.answers.push(
      beginWatch(() => {}),
      beginWatch(() => {}),
    )
    const first = follow(client.watch({ path: '/api/v1/pods' }, never))
    await until(() => attempts.length === 1)
    transport.closeAll('the heartbeat failed')
    await assert.rejects(first.end, { ...unreachable, message: /the heartbeat failed/ })
    const second = follow(client.watch({ path: '/api/v1/pods' }, never))
    await until(() => attempts.length === 2)
    await tasks[Symbol.asyncDispose]()
    await assert.rejects(second.end, { ...unreachable, message: /the client ends/ })
    await until(() => server.sessions.size === 0)
  })

  test('to a closed port, to an untrusted server and to a silent one fail with the reason', async (t) => {
    const server = new ScriptedServer({})
    await server.listen(t)
    const clock = new FakeClock()
    const mute = createServer(() => {})
    t.after(() => mute.close())
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const { port: mutePort } = mute.address() as AddressInfo
    const rows: readonly [Partial<TestClientOptions> & { port: number }, RegExp][] = [
      [{ port: 1 }, /Cannot reach the API server "https:\/\/127\.0\.0\.1:1": connect ECONNREFUSED/],
      [{ port: server.port, readTrust: async () => ({ kind: 'machine', pems: [] }) }, /self-signed certificate/],
      [{ port: server.port, serverName: 'other.test' }, /Host: other.test. is not cert's CN: nobody.test/],
      [{ port: server.port, readTrust: () => Promise.reject(new Error('no ca.crt')) }, /no ca.crt/],
      [
        {
          port: server.port,
          credentials: { current: () => Promise.reject(new Error('no token')), onUnauthorized: async () => false },
        },
        /no token/,
      ],
    ]
    for (const [options, message] of rows) {
      const { client } = createTestClient(t, { clock, ...options })
      await assert.rejects(client.send(get, never), { ...unreachable, message })
    }
    const { client } = createTestClient(t, { port: mutePort, clock })
    const muted = assert.rejects(client.send(get, never), {
      ...unreachable,
      message: /Cannot finish the TLS handshake: no end after 10000 ms/,
    })
    const reached = new Promise((resolve) => mute.once('connection', resolve))
    await reached
    await until(() => clock.sleeping >= 2)
    await clock.advance(10_000)
    await muted
    const trusting = createTestClient(t, {
      clock,
      port: server.port,
      readTrust: async () => ({ kind: 'anyone' }),
      serverName: 'x',
    })
    assert.deepEqual(await trusting.client.send(get, never), OBJECT)
  })
})

describe('a watch', () => {
  test('gives each event, and ends with the server', async (t) => {
    const { server, client } = await setUp(t)
    const opened = Promise.withResolvers<ServerHttp2Stream>()
    server.answers.push(beginWatch(opened.resolve))
    const watch = follow(client.watch({ path: '/api/v1/pods', query: { resourceVersion: '7' } }, never))
    const stream = await opened.promise
    stream.write('{"type":"ADDED","object":{"a":1}}\n{"type":"DELE')
    await until(() => watch.heard.length === 1)
    stream.end('TED","object":{"a":2}}\n')
    await watch.end
    assert.deepEqual(watch.heard, [
      { type: 'ADDED', object: { a: 1 } },
      { type: 'DELETED', object: { a: 2 } },
    ])
    assert.equal(server.seen[0]?.target, '/api/v1/pods?resourceVersion=7&watch=true')
  })

  for (const [name, text, problem] of [
    ['is no JSON', 'oops\n', 'a line of 4 characters is not JSON'],
    ['is of no known type', '{"type":"RENAMED","object":{}}\n', 'a line is of no known type'],
    ['has no object', '{"type":"ADDED"}\n', 'a line has no object'],
    ['is cut off', '{"type":"ADDED"', 'it ended within a line, after 15 bytes of it'],
  ] as const) {
    test(`fails at a line that ${name}`, async (t) => {
      const { server, client } = await setUp(t)
      server.answers.push(beginWatch((stream) => stream.end(text)))
      const { end } = follow(client.watch({ path: '/api/v1/pods' }, never))
      await assert.rejects(end, { ...unreachable, message: `Cannot read a watch: ${problem}` })
    })
  }

  test('that the server refuses fails with its reason', async (t) => {
    const { server, client } = await setUp(t)
    server.answers.push(json(410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }))
    const { end } = follow(client.watch({ path: '/api/v1/pods' }, never))
    await assert.rejects(end, { name: 'KubeApiError', code: 410, reason: 'Expired', message: 'too old' })
  })

  test('that does not begin is given up', async (t) => {
    const { server, clock, client } = await setUp(t)
    server.answers.push(() => {})
    const { end } = follow(client.watch({ path: '/api/v1/pods' }, never))
    await until(() => server.seen.length === 1)
    for (let ms = 0; ms < 30_000; ms += 5000) {
      await server.exchangePing()
      await clock.advance(5000)
    }
    await assert.rejects(end, { ...unreachable, message: /no answer after 30000 ms/ })
  })

  test('that has no reader any more is closed', async (t) => {
    const { server, client } = await setUp(t)
    const opened = Promise.withResolvers<ServerHttp2Stream>()
    server.answers.push(beginWatch(opened.resolve))
    const events = client.watch({ path: '/api/v1/pods' }, never)[Symbol.asyncIterator]()
    const first = events.next()
    const stream = await opened.promise
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.write('{"type":"ADDED","object":{}}\n')
    await first
    await events.return?.()
    await closed
  })
})

test('nothing is left behind at the signal of a caller, whatever became of the request', async (t) => {
  const { server, clock, client } = await setUp(t)
  const { signal } = new AbortController()
  server.answers.push(
    json(200, OBJECT),
    json(404, {}),
    beginWatch((stream) => stream.end()),
    cutOff,
  )
  await client.send(get, signal)
  await assert.rejects(client.send(get, signal), { code: 404 })
  await follow(client.watch({ path: '/api/v1/pods' }, signal)).end
  await assert.rejects(client.send(post, signal), unreachable)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  // Only the pings of the connections are left, and those end with them.
  await until(() => server.sessions.size === 0 && clock.sleeping === 0)
})

describe('credentials', () => {
  test('that the server does not know are replaced once', async (t) => {
    const tokens = ['old', 'new']
    const { server, client } = await setUp(t, {
      client: {
        credentials: {
          current: async () => ({ certificate: undefined, headers: { authorization: `Bearer ${tokens[0]}` } }),
          onUnauthorized: async () => tokens.shift() === 'old',
        },
      },
    })
    server.answers.push(json(401, {}), json(200, { kind: 'Node', a: 1 }), json(401, {}))
    assert.deepEqual(await client.send(post, never), { kind: 'Node', a: 1 })
    assert.deepEqual(
      server.seen.map(({ headers }) => headers['authorization']),
      ['Bearer old', 'Bearer new'],
    )
    await assert.rejects(client.send(post, never), { name: 'KubeApiError', code: 401, reason: 'Unauthorized' })
  })

  /** A client that is given another certificate in the middle of a watch and a request. */
  async function changeCertificate(t: TestContext) {
    let certificate = { certificatePem: selfSigned.cert, keyPem: selfSigned.key }
    const set = await setUp(t, {
      client: {
        credentials: { current: async () => ({ certificate, headers: {} }), onUnauthorized: async () => false },
      },
    })
    const { server, client, attempts } = set
    const [watched, asked] = [Promise.withResolvers<ServerHttp2Stream>(), Promise.withResolvers<ServerHttp2Stream>()]
    server.answers.push(beginWatch(watched.resolve), asked.resolve)
    const watch = follow(client.watch({ path: '/api/v1/pods' }, never))
    await until(() => attempts.length === 1)
    const sent = client.send<object>(post, never)
    const streams = { watch: await watched.promise, request: await asked.promise }
    certificate = { ...certificate, certificatePem: `${selfSigned.cert}\n` }
    await client.send(get, never)
    assert.deepEqual([server.connections, server.sessions.size], [2, 2])
    return { ...set, watch, sent, streams }
  }

  test('with a new certificate let requests end on the old connection; watches end soon, as if by the server', async (t) => {
    const { server, clock, client, watch, sent, streams } = await changeCertificate(t)
    await clock.advance(1999)
    streams.watch.write('{"type":"ADDED","object":{}}\n{"type":"ADD')
    await until(() => watch.heard.length === 1)
    await clock.advance(1)
    await watch.end
    json(200, { kind: 'Node', done: true })(streams.request, server.seen[1] ?? assert.fail())
    assert.deepEqual(await sent, { kind: 'Node', done: true })
    await until(() => server.sessions.size === 1)
    assert.deepEqual(await client.send(get, never), OBJECT)
    assert.deepEqual([server.connections, server.subjects], [2, ['CN=nobody.test', 'CN=nobody.test']])
    assert.equal(clock.sleeping, 1, 'only the pings of the new connection')
  })

  test('with a new certificate cut what is on the old connection after ten seconds', async (t) => {
    const { server, clock, watch, sent } = await changeCertificate(t)
    const cut = assert.rejects(sent, { ...unreachable, message: /the client has a new certificate/ })
    await clock.advance(9999)
    await watch.end
    assert.equal(server.sessions.size, 2)
    await clock.advance(1)
    await cut
    await until(() => server.sessions.size === 1)
  })

  test('with a new certificate do not keep dead connections alive', async (t) => {
    const { server, transport, watch, sent } = await changeCertificate(t)
    transport.closeAll('the API is silent')
    const silent = { ...unreachable, message: /the API is silent/ }
    await Promise.all([assert.rejects(watch.end, silent), assert.rejects(sent, silent)])
    await until(() => server.sessions.size === 0)
  })
})

test('a server that is away is reported once, and so is its return, however many clients ask', async (t) => {
  const server = new ScriptedServer({})
  await server.listen(t)
  const wire = new Wire(() => server.port)
  await wire.listen(t)
  const clock = new FakeClock()
  const lines: string[] = []
  const note = (message: string) => lines.push(message)
  const { client } = createTestClient(t, { port: wire.port, clock, log: { ...silentLogger, info: note, warn: note } })
  wire.refuse()
  for (let attempt = 0; attempt < 3; attempt += 1) await assert.rejects(client.send(get, never), unreachable)
  wire.repair()
  for (let attempt = 0; attempt < 3; attempt += 1) await client.send(get, never)
  assert.deepEqual(lines, ['the API server is not reached, it is tried again', 'the API server is reached again'])
})

describe('an API that was away', () => {
  test('is followed again as soon as any request is answered', { timeout: 60_000 }, async (t) => {
    const server = new ScriptedServer({})
    await server.listen(t)
    const clock = new FakeClock()
    const apiReturn = new ApiReturn()
    const { client } = createTestClient(t, { port: server.port, clock, apiReturn })
    const stop = new AbortController()
    const problems: unknown[] = []
    const reported: string[] = []
    const following = runListWatch(
      {
        client,
        path: '/api/v1/things',
        clock,
        random: () => 0.5,
        log: silentLogger,
        apiReturn,
        onReplace: () => reported.push('list'),
        onEvent: ({ type }) => reported.push(type),
        onProblem: (error) => void problems.push(error),
      },
      stop.signal,
    )
    following.catch(() => {})
    const destroy: Answer = (stream) => stream.session?.destroy()
    const list = json(200, { items: [], metadata: { resourceVersion: '1' } })
    // Each break is repeated by the client before it counts.
    server.answers.push(list, ...Array.from({ length: 200 }, () => destroy))
    while (problems.length < 7) await clock.advance(100)
    server.answers.length = 0
    const seenBefore = server.seen.length
    const added = { type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '2' } } }
    const watch = beginWatch((stream) => stream.write(`${JSON.stringify(added)}\n`))
    server.answers.push(json(200, OBJECT), watch)
    // Such as the renewal of the lease. Time stands still from here.
    await client.send(get, never)
    await until(() => reported.length === 2)
    assert.deepEqual(
      server.seen.slice(seenBefore).map(({ target }) => target.replace(/\?.*/, '')),
      ['/api/v1/nodes/a', '/api/v1/things'],
    )
    stop.abort(new Error('enough'))
    await assert.rejects(following, /enough/)
  })
})
