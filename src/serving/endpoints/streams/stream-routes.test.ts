import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { startFakeStreamServer, switchedTo } from '../../../../test/fakes/fake-stream-server.ts'
import type { FakeCommand } from '../../../../test/fakes/fake-stream-server.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { WebSocketClient } from '../../../../test/fakes/websocket-client.ts'
import { serveUpgradableRoutes } from '../../../../test/fakes/serve-upgradable-routes.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CallErrorCode } from '../../../protocols/grpc/grpc-call-error.ts'
import {
  Container,
  ListContainersResponse,
  ListPodSandboxResponse,
  PodSandbox,
} from '../../../protocols/cri/generated/runtime-v1.ts'
import { createStreamRoutes } from './stream-routes.ts'
import { dialStreamServer } from '../../http/stream-server.ts'

interface Script {
  readonly serve?: (command: FakeCommand) => Promise<void>
  readonly failWith?: CallErrorCode
  readonly exitCode?: number
}

async function createWorld(t: TestContext, { serve = async () => {}, failWith, exitCode = 0 }: Script = {}) {
  const asked: unknown[] = []
  const stream = await startFakeStreamServer(t, serve)
  const call = async <T>(name: string, request: object, reply: T): Promise<T> => {
    asked.push([
      name,
      JSON.parse(JSON.stringify(request, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))),
    ])
    if (failWith !== undefined) throw new CriCallError(name, failWith, 'not today')
    return reply
  }
  const url = `http://127.0.0.1:${stream.port}`
  const containers = [
    Container.fromPartial({ id: 'old', createdAt: 1n, labels: { 'io.kubernetes.container.name': 'main' } }),
    Container.fromPartial({ id: 'new', createdAt: 2n, labels: { 'io.kubernetes.container.name': 'main' } }),
    Container.fromPartial({ id: 'term', createdAt: 2n, labels: { 'io.kubernetes.container.name': 'terminal' } }),
  ]
  const names = {
    spec: {
      containers: [
        createContainer({ name: 'main' }),
        createContainer({ name: 'terminal', tty: true }),
        createContainer({ name: 'idle' }),
      ],
    },
  }
  const routes = createStreamRoutes({
    views: () => [{ pod: createPod(names), status: {} }],
    calls: {
      async listContainers({ filter }) {
        const name = filter?.labelSelector?.['io.kubernetes.container.name']
        return ListContainersResponse.fromPartial({
          containers: containers.filter(({ labels }) => labels['io.kubernetes.container.name'] === name),
        })
      },
      async listPodSandbox() {
        return ListPodSandboxResponse.fromPartial({
          items: [
            PodSandbox.fromPartial({ id: 's1', createdAt: 1n }),
            PodSandbox.fromPartial({ id: 's2', createdAt: 2n }),
          ],
        })
      },
      exec: (request) => call('exec', request, { url: `${url}/exec/token` }),
      attach: (request) => call('attach', request, { url: `${url}/attach/token` }),
      portForward: (request) => call('portForward', request, { url: `${url}/portforward/token` }),
      execSync: (request) =>
        call('execSync', request, { stdout: Buffer.from('out'), stderr: Buffer.from('err'), exitCode }),
      checkpointContainer: (request) => call('checkpointContainer', request, {}),
    },
    webSockets: true,
    checkpoints: { checkpointsDirectory: '/var/checkpoints', makeDirectory: async () => {} },
    idleMs: 1000,
    dial: dialStreamServer,
    clock: new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5)),
    log: silentLogger,
  })
  const { port } = await serveUpgradableRoutes(t, routes)
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const asking = request({ port, method, path, headers, agent: false })
    asking.end()
    const answered = once(asking, 'response') as Promise<[IncomingMessage]>
    const upgraded = once(asking, 'upgrade') as Promise<[IncomingMessage, IncomingMessage['socket']]>
    upgraded.then(([, socket]) => socket.destroy()).catch(() => {})
    const [response] = await Promise.race([answered, upgraded])
    answered.catch(() => {})
    const body = response.statusCode === 101 ? '' : await text(response)
    return [response.statusCode, body, response.headers] as const
  }
  return { asked, ask, port }
}

const spdy = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1' }
const oldWebSocket = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Protocol': 'v4.channel.k8s.io' }

type Row = readonly [method: string, path: string, headers: Record<string, string>, status: number, body: string]
const refusals: readonly Row[] = [
  ['POST', '/exec/shop/web/main?command=ls', spdy, 400, 'you must specify at least 1 of stdin, stdout, stderr'],
  [
    'POST',
    '/exec/shop/web/main?command=ls&output=true',
    spdy,
    400,
    'you must specify at least 1 of stdin, stdout, stderr',
  ],
  [
    'POST',
    '/exec/shop/web/main?command=ls&error=1&tty=1',
    spdy,
    400,
    'you must specify at least 1 of stdin, stdout, stderr',
  ],
  ['POST', '/exec/shop/other/main?output=1', spdy, 404, 'pod does not exist'],
  ['POST', '/exec/shop/web/other?output=1', spdy, 500, 'container not found ("other")'],
  ['POST', '/exec/shop/web/idle?output=1', spdy, 500, 'container not found ("idle")'],
  ['POST', '/exec/shop/web/u-2/main?output=1', spdy, 500, 'container not found ("main")'],
  ['GET', '/exec/shop/web/main?output=1', {}, 500, 'Upgrade request required'],
  ['POST', '/attach/shop/other/main?output=1', spdy, 404, 'pod does not exist'],
  ['POST', '/portForward/shop/other', spdy, 404, 'pod does not exist'],
  ['POST', '/portForward/shop/web/u-2', spdy, 404, 'pod not found'],
  ['GET', '/portForward/shop/web', oldWebSocket, 400, 'query parameter "port" is required'],
  ['GET', '/portForward/shop/web?port=0', oldWebSocket, 400, 'Cannot use "0" as a port: expected 1 to 65535'],
  ['GET', '/portForward/shop/web?port=80,x', oldWebSocket, 400, 'Cannot use "x" as a port: expected 1 to 65535'],
  ['POST', '/run/shop/other/main?cmd=ls', {}, 404, 'pod does not exist'],
  ['POST', '/run/shop/web/main', {}, 400, 'query parameter "cmd" is required: expected a command'],
  ['POST', '/run/shop/web/main?cmd=', {}, 400, 'query parameter "cmd" is required: expected a command'],
  ['POST', '/run/shop/web/idle?cmd=ls', {}, 500, 'container not found ("idle")'],
  ['POST', '/checkpoint/shop/other/main', {}, 404, 'pod does not exist'],
  ['POST', '/checkpoint/shop/web/other', {}, 404, 'container other does not exist'],
  ['POST', '/checkpoint/shop/web/main?timeout=5&timeout=soon', {}, 404, 'cannot parse value of timeout parameter'],
  [
    'POST',
    '/checkpoint/shop/web/idle',
    {},
    500,
    'checkpointing of shop/web/idle failed (container not found ("idle"))',
  ],
]

describe('createStreamRoutes()', () => {
  test('refuses as Kubernetes does, without asking the runtime for streams', async (t) => {
    const { ask, asked } = await createWorld(t)
    const answers = []
    for (const [method, path, headers] of refusals) {
      const [status, body] = await ask(method, path, headers)
      answers.push([method, path, headers, status, body])
    }
    assert.deepEqual(answers, refusals)
    assert.deepEqual(asked, [])
  })

  const codes: readonly (readonly [CallErrorCode, number, string | undefined])[] = [
    ['NotFound', 404, undefined],
    ['ResourceExhausted', 429, '60'],
    ['Unavailable', 500, undefined],
  ]
  for (const [failWith, expected, retryAfter] of codes) {
    test(`answers ${expected} when the runtime says ${failWith}`, async (t) => {
      const { ask } = await createWorld(t, { failWith })
      const [status, body, headers] = await ask('POST', '/exec/shop/web/main?output=1', spdy)
      assert.deepEqual(
        [status, body, headers['retry-after']],
        [expected, `Cannot call "exec": ${failWith}: not today`, retryAfter],
      )
    })
  }

  test('asks the runtime for what was asked for, and passes the upgrade on', async (t) => {
    const seen: unknown[] = []
    const { ask, asked } = await createWorld(t, {
      async serve({ request, socket }) {
        seen.push([request.method, request.url, request.headers['x-forwarded-for']])
        socket.end(switchedTo('v4.channel.k8s.io'))
      },
    })
    const requests = [
      '/exec/shop/web/main?command=sh&command=-c&command=ls%20%2F&input=1&output=1&error=1',
      '/exec/shop/web/u-1/main?command=sh&output=1&error=1&tty=1',
      '/attach/shop/web/terminal?input=1&output=1&error=1',
      '/portForward/shop/web',
    ]
    for (const path of requests) assert.equal((await ask('POST', path, spdy))[0], 101)
    const [status] = await ask('GET', '/portForward/shop/web/u-1?port=80,81&port=82', oldWebSocket)
    assert.equal(status, 101)
    assert.deepEqual(asked, [
      ['exec', { containerId: 'new', cmd: ['sh', '-c', 'ls /'], stdin: true, stdout: true, stderr: true, tty: false }],
      ['exec', { containerId: 'new', cmd: ['sh'], stdin: false, stdout: true, stderr: false, tty: true }],
      ['attach', { containerId: 'term', stdin: true, stdout: true, stderr: false, tty: true }],
      ['portForward', { podSandboxId: 's2', port: [] }],
      ['portForward', { podSandboxId: 's2', port: [80, 81, 82] }],
    ])
    assert.deepEqual(seen, [
      ['POST', '/exec/token', '127.0.0.1'],
      ['POST', '/exec/token', '127.0.0.1'],
      ['POST', '/attach/token', '127.0.0.1'],
      ['POST', '/portforward/token', '127.0.0.1'],
      ['GET', '/portforward/token', '127.0.0.1'],
    ])
  })

  test('speaks the newest protocol over WebSockets itself', async (t) => {
    const { port } = await createWorld(t, {
      async serve(command) {
        command.socket.write(switchedTo('v4.channel.k8s.io'))
        await command.open(['error', 'stdout'])
        await command.write('stdout', 'hello')
        await command.write('error', '{"status":"Success"}')
        await command.finish('stdout', 'error')
      },
    })
    const path = '/exec/shop/web/main?command=ls&output=1'
    const client = await WebSocketClient.open(t, { port, path, protocols: ['v5.channel.k8s.io', 'v4.channel.k8s.io'] })
    assert.deepEqual(await client.readChannels(), { 1: 'hello', 3: '{"status":"Success"}' })
  })

  test('tunnels SPDY for port-forward through WebSockets', async (t) => {
    const { port, asked } = await createWorld(t, {
      async serve({ socket }) {
        socket.write(switchedTo('portforward.k8s.io'))
        socket.end('raw bytes')
      },
    })
    const protocols = ['SPDY/3.1+portforward.k8s.io']
    const client = await WebSocketClient.open(t, { port, path: '/portForward/shop/web', protocols })
    let received = ''
    for await (const event of client.events()) if (event.kind === 'data') received += event.bytes.toString()
    assert.equal(received, 'raw bytes')
    assert.deepEqual(asked, [['portForward', { podSandboxId: 's2', port: [] }]])
  })

  test('runs a command to its end', async (t) => {
    const { ask, asked } = await createWorld(t)
    const [status, body, headers] = await ask('POST', '/run/shop/web/main?cmd=ls%20-l')
    assert.deepEqual([status, body, headers['content-type']], [200, 'outerr', 'application/json'])
    assert.deepEqual(asked, [['execSync', { containerId: 'new', cmd: ['ls', '-l'], timeout: '0' }]])
  })

  test('reports how a command failed', async (t) => {
    const { ask } = await createWorld(t, { exitCode: 3 })
    const [status, body] = await ask('POST', '/run/shop/web/u-1/main?cmd=ls')
    assert.deepEqual([status, body], [500, "command 'ls' exited with 3: outerr"])
  })

  test('writes a checkpoint, and says where it is', async (t) => {
    const { ask, asked } = await createWorld(t)
    const location = '/var/checkpoints/checkpoint-web_shop-main-2026-01-02T03:04:05Z.tar'
    const [status, body] = await ask('POST', '/checkpoint/shop/web/main?timeout=9')
    assert.deepEqual([status, JSON.parse(body)], [200, { items: [location] }])
    assert.deepEqual(asked, [['checkpointContainer', { containerId: 'new', location, timeout: '9' }]])
  })

  test('says that a runtime cannot checkpoint', async (t) => {
    const { ask } = await createWorld(t, { failWith: 'Unimplemented' })
    const [status, body] = await ask('POST', '/checkpoint/shop/web/main')
    assert.deepEqual(
      [status, body],
      [500, 'checkpointing of shop/web/main failed (Cannot call "checkpointContainer": Unimplemented: not today)'],
    )
  })
})
