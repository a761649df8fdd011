import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import packet from 'dns-packet'
import type { Answer, Packet } from 'dns-packet'
import { systemClock } from '../../../src/base/async/clock.ts'
import type { Clock } from '../../../src/base/async/clock.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { answerQuery } from '../../../src/controllers/network/dns/answer-query.ts'
import { computeClusterZone } from '../../../src/controllers/network/dns/compute-cluster-zone.ts'
import { Forwarder } from '../../../src/controllers/network/dns/forwarder.ts'
import { serveDns } from '../../../src/controllers/network/dns/serve-dns.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'

const many = Array.from({ length: 200 }, (_, index) => ({
  addresses: [`10.1.1.${index}`],
  conditions: { ready: true },
}))
const meta = (name: string, labels = {}) => ({ name, namespace: 'default', uid: name, resourceVersion: '1', labels })
const zone = computeClusterZone({
  domain: 'cluster.local',
  serverAddress: '127.0.0.1',
  ranges: ['10.0.0.0/24'],
  namespaces: ['default'],
  pods: [],
  services: [
    { metadata: meta('web'), spec: { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5'] } },
    { metadata: meta('many'), spec: { clusterIP: 'None' } },
    { metadata: meta('out'), spec: { type: 'ExternalName', externalName: 'www.example.org' } },
  ],
  slices: [
    { metadata: meta('many-1', { 'kubernetes.io/service-name': 'many' }), addressType: 'IPv4', endpoints: many },
  ],
})

/** A server on loopback; gone with the test. */
async function startDns(
  t: TestContext,
  servers: readonly string[] = [],
  isSynced = true,
  clock: Clock = systemClock,
  onQuery = () => {},
) {
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const ready = Promise.withResolvers<number>()
  const random = () => 0.5
  const forwarder = new Forwarder({ clock: systemClock, servers: () => Promise.resolve(servers), random })
  const deps = { zone: () => (isSynced ? zone : undefined), forwarder, random }
  group.run('dns', (signal) =>
    serveDns(
      {
        address: '127.0.0.1',
        port: 0,
        clock,
        log: silentLogger,
        answer(query, s) {
          onQuery()
          return answerQuery(deps, query, s)
        },
        onReady: ready.resolve,
      },
      signal,
    ),
  )
  t.after(async () => {
    stop.abort(new Error('over'))
    await group[Symbol.asyncDispose]()
  })
  return await ready.promise
}

const query = (name: string, extra: Packet = {}, type = 'A') =>
  packet.encode({
    type: 'query',
    id: 7,
    flags: 0x0100,
    questions: [{ name, type: type as 'A', class: 'IN' }],
    ...extra,
  })

async function askUdp(port: number, bytes: Buffer, waitMs = 6000) {
  const socket = createSocket('udp4')
  try {
    socket.send(bytes, port, '127.0.0.1')
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })) as [Buffer]
    return {
      bytes: answer,
      flags: answer.readUInt16BE(2),
      rcode: answer.readUInt16BE(2) & 15,
      message: packet.decode(answer),
    }
  } finally {
    socket.close()
  }
}

const frame = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])

async function askTcp(port: number, ...queries: readonly Buffer[]) {
  const socket = connect({ host: '127.0.0.1', port })
  const framed = queries.map(frame)
  socket.write(Buffer.concat(framed))
  const answers: ReturnType<typeof packet.decode>[] = []
  let got = Buffer.alloc(0)
  while (answers.length < queries.length) {
    const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(6000) })) as [Buffer]
    got = Buffer.concat([got, chunk])
    while (got.length >= 2 && got.length >= 2 + got.readUInt16BE(0)) {
      answers.push(packet.decode(got.subarray(2, 2 + got.readUInt16BE(0))))
      got = got.subarray(2 + got.readUInt16BE(0))
    }
  }
  socket.destroy()
  return answers
}

/** Another name server; counts what it is asked. */
async function startUpstream(t: TestContext, answer: (name: string) => Packet | undefined) {
  const socket = createSocket('udp4')
  let count = 0
  socket.on('message', (bytes, from) => {
    count++
    const { id, questions = [] } = packet.decode(bytes)
    const reply = answer(questions[0]?.name ?? '')
    if (reply !== undefined && id !== undefined)
      socket.send(packet.encode({ type: 'response', id, questions, ...reply }), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return { server: `127.0.0.1#${socket.address().port}`, asked: () => count }
}

const data = (answers: readonly Answer[] = []) => answers.map((answer) => ('data' in answer ? answer.data : undefined))
const OPT = (fields: object) => ({
  additionals: [
    { type: 'OPT', name: '.', udpPayloadSize: 4096, flags: 0, options: [], ...fields } as unknown as Answer,
  ],
})

describe('the DNS server', () => {
  test('answers for the cluster by UDP, with the name as it was asked, and says what is not there', async (t) => {
    const port = await startDns(t)
    const { message, flags } = await askUdp(port, query('Web.default.svc.cluster.local'))
    assert.deepEqual(
      [message.answers?.[0]?.name, data(message.answers)],
      ['Web.default.svc.cluster.local', ['10.0.0.5']],
    )
    assert.equal(flags & 0x0580, 0x0580)
    const none = await askUdp(port, query('gone.default.svc.cluster.local'))
    assert.deepEqual([none.rcode, none.message.authorities?.[0]?.type], [3, 'SOA'])
    const six = await askUdp(port, query('web.default.svc.cluster.local', {}, 'AAAA'))
    assert.deepEqual([six.rcode, six.message.answers, six.message.authorities?.[0]?.type], [0, [], 'SOA'])
  })

  test('cuts what is too long for UDP, and gives all of it by TCP, several questions on one connection', async (t) => {
    const port = await startDns(t)
    const name = 'many.default.svc.cluster.local'
    const plain = await askUdp(port, query(name))
    assert.ok((plain.flags & 0x0200) !== 0 && plain.bytes.length <= 512)
    const extended = await askUdp(port, query(name, OPT({})))
    assert.ok((extended.flags & 0x0200) !== 0 && extended.bytes.length <= 1232)
    const [first, second] = await askTcp(port, query(name), query('web.default.svc.cluster.local'))
    assert.deepEqual(
      [first, second].map((answer) => answer?.answers?.length ?? 0).toSorted((a, b) => a - b),
      [1, 200],
    )
  })

  test('refuses what it does not do, and lives on', async (t) => {
    const port = await startDns(t)
    assert.equal((await askUdp(port, query('cluster.local', {}, 'AXFR'))).rcode, 5)
    const two = query('a', {
      questions: [
        { name: 'a', type: 'A' },
        { name: 'b', type: 'A' },
      ],
    })
    assert.equal((await askUdp(port, two)).rcode, 1)
    const notify = query('a', { flags: 4 << 11 })
    assert.equal((await askUdp(port, notify)).rcode, 4)
    const version = await askUdp(port, query('web.default.svc.cluster.local', OPT({ ednsVersion: 1 })))
    const opt = version.message.additionals?.[0] as unknown as { readonly extendedRcode: number }
    assert.deepEqual([opt.extendedRcode, version.message.answers], [1, []])
    const socket = createSocket('udp4')
    for (let n = 0; n < 200; n++)
      socket.send(Buffer.from(Array.from({ length: n }, (_, i) => (i * 73 + n * 31) & 255)), port, '127.0.0.1')
    assert.equal((await askUdp(port, query('web.default.svc.cluster.local'))).rcode, 0)
    socket.close()
  })

  test('says nothing about names before it knows all objects', async (t) => {
    const port = await startDns(t, [], false)
    assert.equal((await askUdp(port, query('gone.default.svc.cluster.local'))).rcode, 2)
  })

  test('asks others about other names, remembers it, and follows names that stand for those', async (t) => {
    const upstream = await startUpstream(t, (name) =>
      name === 'www.example.org' ? { answers: [{ type: 'A', name, ttl: 60, data: '192.0.2.80' }] } : { flags: 3 },
    )
    const port = await startDns(t, [upstream.server])
    assert.deepEqual(data((await askUdp(port, query('www.example.org'))).message.answers), ['192.0.2.80'])
    await askUdp(port, query('www.example.org'))
    assert.equal(upstream.asked(), 1)
    const { message } = await askUdp(port, query('out.default.svc.cluster.local'))
    assert.deepEqual(data(message.answers), ['www.example.org', '192.0.2.80'])
    assert.equal((await askUdp(port, query('gone.example.org'))).rcode, 3)
  })

  test('a server that is silent is passed over; without any, other names fail at once and those of the cluster do not', async (t) => {
    const silent = await startUpstream(t, () => undefined)
    const good = await startUpstream(t, (name) => ({ answers: [{ type: 'A', name, ttl: 1, data: '192.0.2.1' }] }))
    const both = await startDns(t, [silent.server, good.server])
    assert.deepEqual(data((await askUdp(both, query('a.example'))).message.answers), ['192.0.2.1'])
    const alone = await startDns(t)
    assert.equal((await askUdp(alone, query('a.example'), 1000)).rcode, 2)
    assert.equal((await askUdp(alone, query('web.default.svc.cluster.local'), 1000)).rcode, 0)
  })

  test('where all servers are silent, other names fail before clients give up; those of the cluster are answered', async (t) => {
    const silent = [await startUpstream(t, () => undefined), await startUpstream(t, () => undefined)]
    const port = await startDns(
      t,
      [...silent, await startUpstream(t, () => undefined)].map(({ server }) => server),
    )
    const began = performance.now()
    const failing = askUdp(port, query('a.example'), 8000)
    assert.equal((await askUdp(port, query('web.default.svc.cluster.local'), 1500)).rcode, 0)
    assert.equal((await failing).rcode, 2)
    assert.ok(performance.now() - began < 5500)
  })

  test('a server that there is no way to is passed over at once', async (t) => {
    // The kernel refuses to connect there: without a network as unreachable, with one as a broadcast.
    const unreachable = '255.255.255.255'
    const good = await startUpstream(t, (name) => ({ answers: [{ type: 'A', name, ttl: 1, data: '192.0.2.1' }] }))
    const both = await startDns(t, [unreachable, good.server])
    assert.deepEqual(data((await askUdp(both, query('a.example'), 1500)).message.answers), ['192.0.2.1'])
    const alone = await startDns(t, [unreachable])
    assert.equal((await askUdp(alone, query('a.example'), 1500)).rcode, 2)
  })

  test('clients that begin a question and do not go on keep none out of TCP, from many addresses or from one', async (t) => {
    const port = await startDns(t)
    const web = query('web.default.svc.cluster.local')
    const begin = async (address: string) => {
      const socket = connect({ host: '127.0.0.1', port, localAddress: address })
      t.after(() => socket.destroy())
      socket.on('error', () => {})
      socket.resume()
      await Promise.race([once(socket, 'connect'), once(socket, 'close')])
      socket.write(frame(web).subarray(0, 3))
      return socket
    }
    const beginMany = async (count: number, address: (index: number) => string) => {
      const sockets: Socket[] = []
      for (let index = 0; index < count; index++) sockets.push(await begin(address(index)))
      return sockets
    }
    const openOf = (sockets: readonly Socket[]) =>
      sockets.filter(({ destroyed, closed }) => !destroyed && !closed).length
    const greedy = await beginMany(220, () => '127.0.0.2')
    assert.equal((await askTcp(port, web)).length, 1)
    while (openOf(greedy) > 50) await sleep(5)
    assert.equal(openOf(greedy), 50)
    await beginMany(220, (index) => `127.0.1.${1 + (index % 20)}`)
    assert.equal((await askTcp(port, web)).length, 1)
    while (openOf(greedy) > 0) await sleep(5)
  })

  test('a question by TCP has a time by which all of it is there', async (t) => {
    const clock = new FakeClock()
    const port = await startDns(t, [], true, clock)
    const bytes = frame(query('web.default.svc.cluster.local'))
    const socket = connect({ host: '127.0.0.1', port })
    t.after(() => socket.destroy())
    socket.on('error', () => {}).setNoDelay()
    const send = async (part: Buffer) => {
      socket.write(part)
      // Until it is there: what the server does with a part does not show.
      await sleep(50)
    }
    for (const part of [bytes.subarray(0, 1), bytes.subarray(1, 9)]) {
      await send(part)
      await clock.advance(2400)
    }
    socket.write(bytes.subarray(9))
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await clock.advance(60_000)
    await send(bytes.subarray(0, 5))
    await clock.advance(5001)
    const sentAt = performance.now()
    socket.write(bytes.subarray(5, 6))
    socket.resume()
    await closed
    // By the deadline, not for being idle.
    assert.ok(performance.now() - sentAt < 5000)
  })

  test('who does not read the answers gets no more of them', async (t) => {
    let answered = 0
    const port = await startDns(t, [], true, systemClock, () => answered++)
    const name = 'many.default.svc.cluster.local'
    const socket = connect({ host: '127.0.0.1', port })
    t.after(() => socket.destroy())
    socket.on('error', () => {}).pause()
    // Their answers are some 6 MB, more than the kernel keeps.
    socket.write(Buffer.concat(Array<Buffer>(2000).fill(frame(query(name)))))
    let before = -1
    while (before !== answered) {
      before = answered
      await sleep(300)
    }
    assert.ok(answered > 0 && answered < 1500, `${answered} answers`)
    socket.resume()
    const isOver = () => answered === 2000
    while (!isOver()) await sleep(10)
    assert.equal((await askTcp(port, query(name))).length, 1)
  })
})
