import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { startFakeStreamServer, switchedTo } from '../../../test/fakes/fake-stream-server.ts'
import type { FakeCommand } from '../../../test/fakes/fake-stream-server.ts'
import { WebSocketClient } from '../../../test/fakes/websocket-client.ts'
import { encodePing, encodeSynStream } from './spdy/spdy-frames.ts'
import { REMOTE_COMMAND_PROTOCOL, serveRemoteCommand } from './serve-remote-command.ts'

const IDLE_MS = 4 * 60 * 60 * 1000
const SUCCESS = '{"metadata":{},"status":"Success"}'
const plain = { stdin: true, stdout: true, stderr: true, tty: false }

/** A client, our server, and a runtime that behaves so. */
async function createWorld(t: TestContext, serve: (command: FakeCommand) => Promise<void>, streams = plain) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const runtime = await startFakeStreamServer(t, serve)
  const ended = Promise.withResolvers<unknown>()
  const server = createServer().on('upgrade', (request, socket, head) => {
    const connectRuntime = async () => {
      const connection = connect({ host: '127.0.0.1', port: runtime.port })
      await once(connection, 'connect')
      return connection
    }
    const target = { connect: connectRuntime, host: '127.0.0.1', path: '/exec/token' }
    serveRemoteCommand({
      request,
      socket,
      head,
      server: target,
      streams,
      idleMs: IDLE_MS,
      clock,
      signal: stop.signal,
    }).then(ended.resolve, ended.resolve)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = await WebSocketClient.open(t, { port, path: '/', protocols: [REMOTE_COMMAND_PROTOCOL] })
  return { client, clock, stop, ended: ended.promise, port }
}

async function start(command: FakeCommand, expected: readonly string[] = ['error', 'stdin', 'stdout', 'stderr']) {
  command.socket.write(switchedTo('v4.channel.k8s.io'))
  await command.open(expected)
}

async function end(command: FakeCommand, status = SUCCESS): Promise<void> {
  await command.write('error', status)
  await command.finish('stdout', 'stderr', 'error')
}

describe('serveRemoteCommand()', () => {
  test('carries all streams, the end of the input, and the status', async (t) => {
    const seen: unknown[] = []
    const { client, ended, clock } = await createWorld(t, async (command) => {
      await start(command)
      seen.push(command.request.method, command.request.url, command.request.headers['x-stream-protocol-version'])
      seen.push(command.opened)
      const input = await buffer(command.input('stdin'))
      await command.write('stdout', `read ${input.toString()}`)
      await command.write('stderr', 'a complaint')
      await end(command, '{"status":"Failure","reason":"NonZeroExitCode"}')
    })
    assert.equal(client.protocol, REMOTE_COMMAND_PROTOCOL)
    await client.sendTo(0, 'one ')
    await client.sendTo(9, 'to nobody')
    await client.send(new Uint8Array())
    await client.sendTo(0, 'two')
    await client.closeChannel(0)
    await client.sendTo(0, 'too late')
    assert.deepEqual(await client.readChannels(), {
      1: 'read one two',
      2: 'a complaint',
      3: '{"status":"Failure","reason":"NonZeroExitCode"}',
    })
    client.socket.end()
    assert.equal(await ended, 'finished')
    assert.deepEqual(seen, [
      'POST',
      '/exec/token',
      'v5.channel.k8s.io, v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, channel.k8s.io',
      ['error', 'stdin', 'stdout', 'stderr'],
    ])
    assert.equal(clock.sleeping, 0)
  })

  test('has one output and sizes where there is a terminal', async (t) => {
    const streams = { stdin: false, stdout: true, stderr: true, tty: true }
    const { client } = await createWorld(
      t,
      async (command) => {
        await start(command, ['error', 'stdout', 'resize'])
        const [size] = (await once(command.input('resize'), 'data')) as [Buffer]
        await command.write('stdout', `${command.opened.join(' ')} ${size.toString()}`)
        await command.write('error', SUCCESS)
        await command.finish('stdout', 'error')
      },
      streams,
    )
    await client.sendTo(4, '{"Width":80,"Height":25}')
    assert.deepEqual(await client.readChannels(), { 1: 'error stdout resize {"Width":80,"Height":25}', 3: SUCCESS })
  })

  test('says at once that it is there', async (t) => {
    const { client } = await createWorld(t, async () => {})
    const { value } = await client.events().next()
    assert.deepEqual(value, { kind: 'data', bytes: Buffer.from([1]), first: true, last: true })
  })

  test('carries megabytes both ways without a change', async (t) => {
    const { client } = await createWorld(t, async (command) => {
      await start(command)
      for await (const chunk of command.input('stdin')) await command.write('stdout', chunk as Buffer)
      await end(command)
    })
    const sent = createHash('sha256')
    const sending = (async () => {
      for (let at = 0; at < 100; at += 1) {
        const block = randomBytes(1 + ((at * 7919) % 100_000))
        sent.update(block)
        await client.sendTo(0, block)
      }
      await client.closeChannel(0)
    })()
    const received = createHash('sha256')
    let channel = -1
    for await (const event of client.events()) {
      if (event.kind !== 'data') continue
      if (event.first) channel = event.bytes[0] ?? -1
      if (channel === 1) received.update(event.first ? event.bytes.subarray(1) : event.bytes)
    }
    await sending
    assert.equal(received.digest('hex'), sent.digest('hex'))
  })

  test('takes no more of a command than the client reads', async (t) => {
    const block = Buffer.alloc(1024 * 1024)
    let writtenBytes = 0
    const { client, stop, ended } = await createWorld(t, async (command) => {
      await start(command)
      for (; writtenBytes < 64 * block.length; writtenBytes += block.length) await command.write('stdout', block)
    })
    client.socket.pause()
    await untilStill(() => writtenBytes)
    assert.ok(writtenBytes < 64 * block.length, `the command could write ${writtenBytes} bytes`)
    stop.abort(new Error('test over'))
    assert.equal(await ended, 'stopped')
  })

  test('takes no more of a client than the command reads, and stays alive for it', async (t) => {
    const { client, clock, stop } = await createWorld(t, async (command) => {
      command.socket.write(switchedTo('v4.channel.k8s.io'))
      await command.open(['error', 'stdin', 'stdout', 'stderr'])
    })
    const block = Buffer.alloc(1024 * 1024)
    let sentBytes = 0
    const sending = (async () => {
      for (; sentBytes < 64 * block.length; sentBytes += block.length) await client.sendTo(0, block)
    })()
    await untilStill(() => sentBytes)
    assert.ok(sentBytes < 64 * block.length, `the client could send ${sentBytes} bytes`)
    const pong = (async () => {
      for await (const event of client.events()) if (event.kind === 'pong') return 'pong'
      return 'none'
    })()
    // On a busy machine it may still take something at the first look.
    let heard: unknown
    while (heard === undefined) {
      await clock.advance(10_000)
      heard = await Promise.race([pong, sleep(5)])
    }
    assert.equal(heard, 'pong')
    stop.abort(new Error('test over'))
    await assert.rejects(sending)
  })

  test('answers pings of both sides, and refuses streams that a runtime opens', async (t) => {
    const answers = Promise.withResolvers<readonly string[]>()
    const { client } = await createWorld(t, async (command) => {
      await start(command)
      command.socket.write(Buffer.concat([encodeSynStream(2, {}, true), encodePing(8)]))
      while (command.controls.length < 7) await setImmediate()
      answers.resolve(command.controls)
    })
    await client.send(Buffer.from('hello'), 'ping')
    // Five windows that are as large as they can be: of the connection and of each stream.
    const windows = [0, 1, 3, 5, 7].map((stream) => `9 0000000${stream}7ffeffff`)
    assert.deepEqual(await answers.promise, [...windows, '3 0000000200000003', '6 00000008'])
    for await (const event of client.events()) {
      if (event.kind !== 'pong') continue
      assert.equal(event.bytes.toString(), 'hello')
      break
    }
  })

  const failures: readonly (readonly [
    about: string,
    serve: (command: FakeCommand) => Promise<void>,
    message: RegExp,
  ])[] = [
    [
      'refuses the upgrade',
      async ({ socket }) => void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\ngone\n'),
      /the runtime answered 404: gone/,
    ],
    ['breaks off before it answers', async ({ socket }) => void socket.destroy(), /hang up/],
    [
      'breaks off before the command ends',
      async (command) => {
        await start(command)
        await command.write('stdout', 'some')
        command.socket.destroy()
      },
      /Internal error occurred: /,
    ],
    [
      'speaks something else than SPDY',
      async ({ socket }) => void socket.write(`${switchedTo('v4.channel.k8s.io')}${'\xff'.repeat(100)}`),
      /expected version 3 of SPDY/,
    ],
    [
      'reports no status',
      async (command) => {
        await start(command)
        await command.finish('stdout', 'stderr', 'error')
      },
      /did not report how the command ended/,
    ],
  ]
  for (const [about, serve, message] of failures) {
    test(`reports to the client when the runtime ${about}`, async (t) => {
      const { client, ended } = await createWorld(t, serve)
      const { 3: status = '' } = await client.readChannels()
      const { status: word, message: text } = JSON.parse(status) as { status: string; message: string }
      assert.equal(word, 'Failure')
      assert.match(text, message)
      client.socket.end()
      await ended
    })
  }

  test('gives up a command that said all and takes no more input, but not one that is still to speak', async (t) => {
    for (const isSilent of [true, false]) {
      const taken = Promise.withResolvers<FakeCommand>()
      const { client, clock, ended } = await createWorld(t, async (command) => {
        await start(command)
        await command.write('stdout', 'first bytes')
        if (isSilent) await command.finish('stdout', 'stderr')
        taken.resolve(command)
      })
      const command = await taken.promise
      let sent = 0
      const sending = (async () => {
        for (; sent < 64 * 1024 * 1024; sent += 64 * 1024) await client.sendTo(0, Buffer.alloc(64 * 1024))
      })().catch(() => {})
      await untilStill(() => sent)
      await clock.advance(10_000)
      await clock.advance(10_000)
      if (!isSilent) {
        await clock.advance(60_000)
        await end(command)
      }
      const { 1: output, 3: status = '' } = await client.readChannels()
      assert.equal(output, 'first bytes')
      assert.match(status, isSilent ? /did not report how the command ended/ : /"Success"/)
      client.socket.destroy()
      await Promise.all([ended, sending])
    }
  })

  test('closes a client that sends garbage, and leaves the command', async (t) => {
    const left = Promise.withResolvers<void>()
    const { client, ended } = await createWorld(t, async (command) => {
      command.socket.on('close', left.resolve)
      await start(command)
    })
    client.socket.write(Buffer.alloc(1000, 0xff))
    let close = ''
    for await (const event of client.events()) if (event.kind === 'close') close = event.bytes.toString('hex')
    assert.equal(close, '03ea')
    client.socket.end()
    assert.equal(await ended, 'broken')
    await left.promise
  })

  test('leaves the command when the client leaves', async (t) => {
    const left = Promise.withResolvers<void>()
    const { client, ended } = await createWorld(t, async (command) => {
      command.socket.on('close', left.resolve)
      await start(command)
    })
    client.socket.destroy()
    await Promise.all([left.promise, ended])
  })

  test('closes both sides when nothing happens for too long', async (t) => {
    const started = Promise.withResolvers<void>()
    const { client, clock, ended } = await createWorld(t, async (command) => {
      await start(command)
      await command.write('stdout', 'ready')
      started.resolve()
    })
    await started.promise
    for await (const event of client.events()) if (event.kind === 'data' && event.bytes.length > 1) break
    await clock.advance(IDLE_MS)
    assert.equal(await ended, 'idle')
    assert.equal(clock.sleeping, 0)
  })

  test('refuses a request that is no good handshake', async (t) => {
    const { port } = await createWorld(t, async () => {})
    const socket = connect({ host: '127.0.0.1', port })
    socket.write(
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
    )
    const answer = await buffer(socket)
    assert.match(answer.toString(), /^HTTP\/1\.1 400 Bad Request\r\n.*expected a key of 16 bytes$/s)
  })
})

/** Returns when a number has not changed for some turns: nothing that could be waited for happens when nothing moves. */
async function untilStill(read: () => number): Promise<void> {
  let still = 0
  for (let before = -1; still < 5;) {
    still = read() === before && before > 0 ? still + 1 : 0
    before = read()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await setImmediate()
}
