import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { WebSocketClient } from '../../../../test/fakes/websocket-client.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { SpdyClient } from '../../streams/spdy/spdy-client.ts'
import type { SpdyStreamEvent } from '../../streams/spdy/spdy-client.ts'
import { DockerStreamServer } from './docker-stream-server.ts'

function createServerUnderTest(t: TestContext) {
  const clock = new FakeClock()
  const server = new DockerStreamServer({ clock, log: silentLogger })
  t.after(() => server[Symbol.dispose]())
  return { clock, server }
}

/** A port of a pod that answers with what it gets, in capitals. */
async function startEcho(t: TestContext): Promise<number> {
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => socket.write(chunk.toString().toUpperCase()))
    socket.on('end', () => socket.end())
  }).listen(0, '127.0.0.1')
  t.after(() => echo.close())
  await once(echo, 'listening')
  return (echo.address() as AddressInfo).port
}

function createPorts(ports: readonly number[] = []) {
  const state = { disposed: 0 }
  const dial = async (port: number) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    await once(socket, 'connect')
    return socket
  }
  const open = async () => ({ dial, [Symbol.dispose]: () => void (state.disposed += 1) })
  return { state, served: { kind: 'ports', ports, open } as const }
}

/** A command of Docker that says what it gets; its exit code is 3. */
function createCommand(streams = { stdin: true, stdout: true, stderr: true, tty: true }) {
  const sizes: string[] = []
  const open = async () => ({
    socket: new PassThrough(),
    tty: streams.tty,
    resize: async ({ width, height }: { width: number; height: number }) => void sizes.push(`${width}x${height}`),
    exitCode: async () => 3,
  })
  return { sizes, served: { kind: 'command', streams, open } as const }
}

async function upgrade(url: string, protocols: readonly string[]) {
  const headers = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': protocols.join(',') }
  const asking = request(url, { method: 'POST', agent: false, headers })
  asking.end()
  const refused = once(asking, 'response').then(([response]) => ({ response: response as IncomingMessage }))
  const taken = once(asking, 'upgrade').then(([response, socket]) => {
    return { response: response as IncomingMessage, socket: socket as Socket }
  })
  for (const end of [refused, taken]) end.catch(() => {})
  const { response, socket }: { response: IncomingMessage; socket?: Socket } = await Promise.race([refused, taken])
  return { status: response.statusCode, protocol: response.headers['x-stream-protocol-version'], response, socket }
}

/** What comes on each stream until all of these are over. */
async function readStreams(client: SpdyClient, ids: readonly number[]): Promise<readonly string[]> {
  const parts = new Map<number, Buffer[]>(ids.map((id) => [id, []]))
  const open = new Set(ids)
  for await (const event of client.events() as AsyncIterable<SpdyStreamEvent>) {
    if (event.kind === 'data') parts.get(event.stream)?.push(Buffer.from(event.bytes))
    if (event.kind === 'over') open.delete(event.stream)
    if (open.size === 0) break
  }
  return ids.map((id) => Buffer.concat(parts.get(id) ?? []).toString())
}

describe('DockerStreamServer', () => {
  test('serves an address once, and for a minute', async (t) => {
    const { clock, server } = createServerUnderTest(t)
    const { served } = createPorts()
    const once = await server.offer(served)
    const first = await upgrade(once, ['portforward.k8s.io'])
    assert.deepEqual([first.status, first.protocol], [101, 'portforward.k8s.io'])
    first.socket?.destroy()
    assert.equal((await upgrade(once, ['portforward.k8s.io'])).status, 404)
    const late = await server.offer(served)
    await clock.advance(60_001)
    assert.equal((await upgrade(late, [])).status, 404)
    const plain = await fetch(await server.offer(served))
    assert.deepEqual([plain.status, await plain.text()], [400, 'Upgrade request required'])
  })

  test('refuses protocols that it does not speak', async (t) => {
    const { server } = createServerUnderTest(t)
    assert.equal((await upgrade(await server.offer(createPorts().served), ['x'])).status, 403)
    assert.equal((await upgrade(await server.offer(createCommand().served), ['v9.channel.k8s.io'])).status, 403)
    const { port, pathname: path } = new URL(await server.offer(createPorts([1]).served))
    const target = { port: Number(port), path, protocols: ['v4.base64.channel.k8s.io'] }
    await assert.rejects(WebSocketClient.open(t, target), /refused with 403/)
  })

  test('carries ports over SPDY, and says on the stream of errors what went wrong', async (t) => {
    const { server } = createServerUnderTest(t)
    const { state, served } = createPorts()
    const { socket } = await upgrade(await server.offer(served), ['portforward.k8s.io'])
    assert.ok(socket)
    const client = new SpdyClient(socket)
    const open = async (requestid: string, port: number) => {
      const error = await client.open({ streamtype: 'error', port: String(port), requestid })
      return { error, data: await client.open({ streamtype: 'data', port: String(port), requestid }) }
    }
    const echo = await startEcho(t)
    const [good, bad] = [await open('0', echo), await open('1', 1)]
    await client.send(good.data, Buffer.from('hello'))
    await client.finish(good.data)
    const [said, fault, nothing, failure] = await readStreams(client, [good.data, good.error, bad.data, bad.error])
    assert.deepEqual([said, fault, nothing], ['HELLO', '', ''])
    assert.match(failure ?? '', /^error forwarding port 1 to pod: connect ECONNREFUSED/)
    socket.destroy()
    while (state.disposed === 0) await new Promise((resolve) => setImmediate(resolve))
  })

  test('carries ports over the oldest WebSockets: two channels for each, which begin with its number', async (t) => {
    const { server } = createServerUnderTest(t)
    const echo = await startEcho(t)
    const { state, served } = createPorts([echo, 1])
    const { port, pathname: path } = new URL(await server.offer(served))
    const client = await WebSocketClient.open(t, { port: Number(port), path, protocols: ['v4.channel.k8s.io'] })
    assert.equal(client.protocol, 'v4.channel.k8s.io')
    const number = (value: number) => Buffer.from([value & 0xff, value >> 8])
    const seen: Buffer[] = []
    let channel = 0
    for await (const event of client.events()) {
      if (event.kind !== 'data') continue
      if (event.first) channel = event.bytes[0] ?? 0
      const content = Buffer.from(event.first ? event.bytes.subarray(1) : event.bytes)
      seen[channel] = Buffer.concat([seen[channel] ?? Buffer.alloc(0), content])
      if (channel === 0 && content.equals(number(echo))) await client.sendTo(0, 'hello')
      if (seen[0]?.includes('HELLO') === true && (seen[3]?.length ?? 0) > 2) break
    }
    assert.deepEqual(seen[0], Buffer.concat([number(echo), Buffer.from('HELLO')]))
    assert.deepEqual([seen[1], seen[2]], [number(echo), number(1)])
    assert.deepEqual(seen[3]?.subarray(0, 2), number(1))
    assert.match(seen[3]?.subarray(2).toString() ?? '', /^error forwarding port 1 to pod: connect ECONNREFUSED/)
    // The echo is still there: the client's leaving ends it.
    client.socket.destroy()
    while (state.disposed === 0) await new Promise((resolve) => setImmediate(resolve))
  })

  test('runs a command over SPDY: input, sizes, output, and how it ended', async (t) => {
    const { server } = createServerUnderTest(t)
    const { sizes, served } = createCommand()
    const { socket, protocol } = await upgrade(await server.offer(served), ['v4.channel.k8s.io', 'v1.channel.k8s.io'])
    assert.ok(socket)
    assert.equal(protocol, 'v4.channel.k8s.io')
    const client = new SpdyClient(socket)
    const ids: Record<string, number> = {}
    for (const streamtype of ['error', 'stdin', 'stdout', 'resize']) ids[streamtype] = await client.open({ streamtype })
    await client.send(ids['resize'] ?? 0, Buffer.from('{"Width":80,"Height":24}'))
    await client.send(ids['stdin'] ?? 0, Buffer.from('typed'))
    await client.finish(ids['stdin'] ?? 0)
    const [output, status] = await readStreams(client, [ids['stdout'] ?? 0, ids['error'] ?? 0])
    assert.equal(output, 'typed')
    const { reason, details } = JSON.parse(status ?? '') as { reason: string; details: { causes: object[] } }
    assert.deepEqual([reason, details.causes], ['NonZeroExitCode', [{ reason: 'ExitCode', message: '3' }]])
    assert.deepEqual(sizes, ['80x24'])
  })

  test('runs a command over WebSocket, and ends its input where the client asks for it', async (t) => {
    const { server } = createServerUnderTest(t)
    const { served } = createCommand()
    const { port, pathname: path } = new URL(await server.offer(served))
    const client = await WebSocketClient.open(t, { port: Number(port), path, protocols: ['v5.channel.k8s.io'] })
    await client.sendTo(0, 'typed')
    await client.closeChannel(0)
    const channels = await client.readChannels()
    assert.equal(channels[1], 'typed')
    assert.match(channels[3] ?? '', /"reason":"NonZeroExitCode"/)
  })

  test('reports a command that cannot be begun', async (t) => {
    const { server } = createServerUnderTest(t)
    const { served } = createCommand({ stdin: false, stdout: true, stderr: false, tty: false })
    const url = await server.offer({ ...served, open: () => Promise.reject<never>(new Error('no such program')) })
    const { socket } = await upgrade(url, [])
    assert.ok(socket)
    const client = new SpdyClient(socket)
    const [error, stdout] = [await client.open({ streamtype: 'error' }), await client.open({ streamtype: 'stdout' })]
    const [failure] = await readStreams(client, [error, stdout])
    assert.match(failure ?? '', /error executing command in container: no such program/)
    await text(socket)
  })
})
