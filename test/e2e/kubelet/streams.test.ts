import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { logFiles } from '../../../src/system/directories/logs/log-files.ts'
import { rotateLog } from '../../../src/pods/logs/rotate-log.ts'
import { openRemoteCommand } from '../../../src/protocols/streams/open-remote-command.ts'
import { SpdyClient } from '../../../src/protocols/streams/spdy/spdy-client.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { WebSocketClient } from '../../fakes/websocket-client.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'
import { serveStreams } from '../support/serve-streams.ts'
import { testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const never = new AbortController().signal
const PAYLOAD = randomBytes(8 * 1024 * 1024)
const PAYLOAD_HASH = createHash('sha256').update(PAYLOAD).digest('hex')

interface World {
  readonly node: TestNode
  readonly port: number
  /** Of the pod's endpoints, such as exec. */
  readonly path: (endpoint: string, container?: string) => string
}

/** One pod with a container for each kind of question. */
async function createWorld(t: TestContext): Promise<World> {
  const node = await TestNode.start()
  t.after(() => node[Symbol.asyncDispose]())
  const containers = [
    testContainer('main', 'nc -ll -p 8080 -e cat'),
    testContainer('listener', 'while read line; do echo got $line; done', { stdin: true }),
    testContainer('talker', 'i=0; while :; do i=$((i + 1)); echo line $i; usleep 5000; done'),
  ]
  await node.lab.manifests.write('streams', testPod('streams', { containers }))
  await node.ready('streams')
  const { port } = await serveStreams(t, node)
  const pod = `streams-${NODE_NAME}`
  return {
    node,
    port,
    path: (endpoint, container) =>
      ['', endpoint, 'default', pod, container].filter((part) => part !== undefined).join('/'),
  }
}

test('streams reach containers through every protocol, and logs are followed across rotations', async (t) => {
  const world = await createWorld(t)
  await t.test('exec over WebSockets, with megabytes both ways', () => execOverWebSocket(t, world))
  await t.test('exec over WebSockets returns the exit code', () => exitCode(t, world))
  await t.test('exec over SPDY', () => execOverSpdy(world))
  await t.test('attach', () => attach(t, world))
  // test/e2e/standalone/kubectl-streams.test.ts has this one.
  const reason = 'the streams of Docker come from this process, which is not in the network of the lab'
  const skip = world.node.lab.runtime.name === 'docker' && reason
  await t.test('port-forward in SPDY in a WebSocket', { skip }, () => portForward(t, world))
  await t.test('run', () => run(world))
  await t.test('logs are followed across rotations', () => followLogs(world))
})

async function execOverWebSocket(t: TestContext, { port, path }: World): Promise<void> {
  const query = 'command=cat&input=1&output=1&error=1'
  const client = await openCommand(t, port, `${path('exec', 'main')}?${query}`)
  const sending = (async () => {
    for (let at = 0; at < PAYLOAD.length; at += 50_000) await client.sendTo(0, PAYLOAD.subarray(at, at + 50_000))
    await client.closeChannel(0)
  })()
  const received = createHash('sha256')
  let channel = -1
  let status = ''
  for await (const event of client.events()) {
    if (event.kind !== 'data') continue
    if (event.first) channel = event.bytes[0] ?? -1
    const content = event.first ? event.bytes.subarray(1) : event.bytes
    if (channel === 1) received.update(content)
    if (channel === 3) status += content.toString()
  }
  await sending
  assert.equal(received.digest('hex'), PAYLOAD_HASH)
  assert.equal((JSON.parse(status) as { status: string }).status, 'Success')
}

async function exitCode(t: TestContext, { port, path }: World): Promise<void> {
  const query = 'command=sh&command=-c&command=echo%20out%3B%20echo%20err%20%3E%262%3B%20exit%203&output=1&error=1'
  const client = await openCommand(t, port, `${path('exec', 'main')}?${query}`)
  const { 1: out, 2: err, 3: status = '' } = await client.readChannels()
  const { reason, details } = JSON.parse(status) as { reason: string; details: { causes: unknown } }
  assert.deepEqual(
    [out, err, reason, details.causes],
    ['out\n', 'err\n', 'NonZeroExitCode', [{ reason: 'ExitCode', message: '3' }]],
  )
}

async function execOverSpdy({ port, path }: World): Promise<void> {
  const server = {
    connect: async () => connect({ host: '127.0.0.1', port }),
    host: 'node',
    path: `${path('exec', 'main')}?command=sha256sum&input=1&output=1`,
  }
  const wanted = { stdin: true, stdout: true, stderr: false, tty: false }
  const { spdy, streams, connection } = await openRemoteCommand(server, wanted, never)
  const { stdin = 0, stdout = 0, error } = streams
  let output = ''
  let status = ''
  const ended = new Set<number>()
  for await (const event of spdy.events()) {
    if (event.kind === 'accepted' && event.stream === stdin) void sendAll(spdy, stdin)
    if (event.kind === 'data' && event.stream === stdout) output += event.bytes.toString()
    if (event.kind === 'data' && event.stream === error) status += event.bytes.toString()
    if (event.kind === 'over') ended.add(event.stream)
    if (ended.has(stdout) && ended.has(error)) break
  }
  connection.destroy()
  assert.equal(output.split(' ')[0], PAYLOAD_HASH)
  assert.equal((JSON.parse(status) as { status: string }).status, 'Success')
}

async function sendAll(spdy: SpdyClient, stream: number): Promise<void> {
  for (let at = 0; at < PAYLOAD.length; at += 30_000) await spdy.send(stream, PAYLOAD.subarray(at, at + 30_000))
  await spdy.finish(stream)
}

async function attach(t: TestContext, { port, path }: World): Promise<void> {
  const client = await openCommand(t, port, `${path('attach', 'listener')}?input=1&output=1`)
  await client.sendTo(0, 'hello\n')
  let output = ''
  for await (const event of client.events()) {
    if (event.kind === 'data') output += event.bytes.toString()
    if (output.includes('\n')) break
  }
  assert.match(output, /got hello\n/)
  client.socket.destroy()
}

async function portForward(t: TestContext, { node, port, path }: World): Promise<void> {
  await node.waitFor('the pod to listen', async () => {
    return (await node.runIn('streams', ['netstat', '-ltn'], 'main')).includes(':8080')
  })
  const protocols = ['SPDY/3.1+portforward.k8s.io']
  const client = await WebSocketClient.open(t, { port, path: path('portForward'), protocols })
  assert.equal(client.protocol, protocols[0])
  const spdy = new SpdyClient(toDuplex(client))
  await spdy.open({ streamType: 'error', port: '8080', requestID: '0' })
  const data = await spdy.open({ streamType: 'data', port: '8080', requestID: '0' })
  let output = ''
  for await (const event of spdy.events()) {
    if (event.kind === 'accepted' && event.stream === data) await spdy.send(data, Buffer.from('over the bridge'))
    if (event.kind === 'data') output += event.bytes.toString()
    if (output === 'over the bridge') break
  }
  assert.equal(output, 'over the bridge')
  client.socket.destroy()
}

async function run({ port, path }: World): Promise<void> {
  const asking = request({ port, method: 'POST', path: `${path('run', 'main')}?cmd=echo%20one%20two`, agent: false })
  asking.end()
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  assert.deepEqual([response.statusCode, await text(response)], [200, 'one two\n'])
}

async function followLogs({ node, port, path }: World): Promise<void> {
  const talker = (await node.running('streams')).find(({ metadata }) => metadata?.name === 'talker')
  const containerId = talker?.id ?? ''
  const { status } = await node.inspect(containerId)
  const rotate = async () => {
    await rotateLog(
      {
        calls: node.runtime,
        files: logFiles,
        limits: { maxSizeBytes: 1, maxFiles: 10 },
        clock: systemClock,
        log: silentLogger,
      },
      { containerId, logPath: status.logPath, pod: 'default/streams', name: 'talker' },
      never,
    )
  }
  const asking = get({ port, path: `${path('containerLogs', 'talker')}?follow=true`, agent: false })
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const rotations = (async () => {
    for (let count = 0; count < 3; count += 1) await rotate()
  })()
  let output = ''
  for await (const chunk of response) {
    output += String(chunk)
    if (output.split('\n').length > 400) break
  }
  await rotations
  const numbers = [...output.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number))
  assert.deepEqual(
    numbers,
    numbers.map((_, at) => at + 1),
  )
  asking.destroy()
}

async function openCommand(t: TestContext, port: number, path: string): Promise<WebSocketClient> {
  return await WebSocketClient.open(t, { port, path, protocols: ['v5.channel.k8s.io'] })
}

/** The bytes inside the messages of a WebSocket as a connection. */
function toDuplex(client: WebSocketClient): Duplex {
  const contents = async function* () {
    for await (const event of client.events()) if (event.kind === 'data') yield event.bytes
  }
  const incoming = contents()
  const duplex = new Duplex({
    read() {
      incoming.next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      )
    },
    write(chunk: Buffer, _, done) {
      client.send(chunk).then(() => done(), done)
    },
  })
  return duplex.on('error', () => {})
}
