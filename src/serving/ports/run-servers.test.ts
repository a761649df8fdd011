import assert from 'node:assert/strict'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { get as httpGet } from 'node:http'
import { get as httpsGet } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { loadFields } from '../../../test/fakes/load-settings.ts'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { selfSigned } from '../../../test/fixtures/self-signed.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import { runServers } from './run-servers.ts'
import type { KubeletApiDeps } from './run-kubelet-api.ts'
import type { Route } from '../http/route.ts'
import { createVerbosity } from '../../base/telemetry/create-logger.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

/** A port that nobody uses now. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function run(
  fields: object,
  problem: () => string | undefined = () => undefined,
  api?: Partial<KubeletApiDeps>,
  stats: readonly Route[] = [],
) {
  const enableServer = api !== undefined
  const settings = await loadFields({ address: '127.0.0.1', healthzBindAddress: '127.0.0.1', enableServer, ...fields })
  const listening: unknown[] = []
  const sockets: unknown[] = []
  const say = () => {}
  const log: Logger = {
    error: say,
    warn: say,
    debug: say,
    info: (_, { server, path } = {}) => void (path === undefined ? listening : sockets).push(server),
    child: () => log,
  }
  const registry = {
    views: () => [{ pod: createPod(), status: { phase: 'Running' } }],
    explain: () => [],
  } as unknown as PodRegistry
  const metrics = {
    render: async () => ({ type: 'text/plain', body: 'up 1\n' }),
    requestStarted: say,
    requestEnded: say,
    healthChecked: say,
  } as unknown as AgentMetrics
  const stop = new AbortController()
  const steps: string[] = []
  const apiDeps: KubeletApiDeps = {
    client: undefined,
    certificates: {
      current: () => ({ certificatePem: selfSigned.cert, keyPem: selfSigned.key }),
      onChange: () => () => {},
    },
    containers: [],
    observed: () => [],
    verbosity: createVerbosity(0),
    startedAt: 0,
    random: () => 0,
    ...api,
  }
  const deps = {
    settings,
    registry,
    metrics,
    tracer: undefined,
    clock: new FakeClock(),
    log,
    refusedManifests: () => [],
    unusedFields: () => [],
    placesOf: () => [],
    listImages: () => Promise.resolve([]),
    syncLoop: problem,
    devicePlugins: () => undefined,
    statsRoutes: async () => stats,
    apiDeps: async () => {
      steps.push('load the API')
      return apiDeps
    },
    openFiles: Promise.resolve(1024),
    rootDirectory: makeTemporaryFolder(),
    onAnswering: () => void steps.push('answering'),
  }
  return {
    running: runServers(deps, stop.signal),
    listening,
    steps,
    sockets,
    leave: () => stop.abort(new Error('leave')),
    socket: `${deps.rootDirectory}/deckhand/agent.sock`,
  }
}

const OPEN = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
}

/** Over TLS, without asking whose certificate it is. */
function getSecurely(port: number, path: string): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const request = httpsGet({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += String(chunk)))
      response.on('end', () => resolve([response.statusCode ?? 0, text]))
    })
    request.on('error', reject)
  })
}

async function get(port: number, path: string): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return [response.status, await response.text()]
}

/** As root on the machine itself. */
async function getFromSocket(socketPath: string, path: string): Promise<readonly [number | undefined, string]> {
  const [response] = (await once(httpGet({ socketPath, path, agent: false }), 'response')) as [IncomingMessage]
  return [response.statusCode, await text(response)]
}

/** The code for a client that calls the machine by another name. */
async function statusFor(port: number, name: string): Promise<number | undefined> {
  const request = httpGet({ host: '127.0.0.1', port, path: '/pods', agent: false, headers: { host: name } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

async function untilListening(server: { readonly listening: unknown[] }, count: number): Promise<void> {
  while (server.listening.length < count) await new Promise((resolve) => setImmediate(resolve))
}

describe('runServers()', () => {
  test('serves pods, explanations and metrics on a socket for root alone when no port is configured', async () => {
    const { running, listening, sockets, leave, socket } = await run({ healthzPort: 0, readOnlyPort: 0 })
    await untilListening({ listening: sockets }, 1)
    assert.deepEqual([listening, sockets], [[], ['agent socket']])
    assert.equal((await stat(socket)).mode & 0o777, 0o600)
    assert.equal((await stat(dirname(socket))).mode & 0o777, 0o750)
    assert.deepEqual(await getFromSocket(socket, '/metrics'), [200, 'up 1\n'])
    assert.deepEqual(await getFromSocket(socket, '/healthz'), [200, 'ok'])
    assert.equal((await getFromSocket(socket, '/pods'))[0], 200)
    // Two at once: connections of a unix socket have no address that would distinguish them.
    const both = await Promise.all(['/why', '/why'].map((path) => getFromSocket(socket, path)))
    assert.deepEqual(both, [
      [200, '{"pods":[],"manifests":[],"unused":[]}\n'],
      [200, '{"pods":[],"manifests":[],"unused":[]}\n'],
    ])
    assert.equal((await getFromSocket(socket, '/exec/a/b/c'))[0], 404)
    leave()
    await running
  })

  test('serves nothing on a socket in a run that ends by itself', async () => {
    const { running, sockets } = await run({ healthzPort: 0, readOnlyPort: 0, runOnce: true })
    await running
    assert.deepEqual(sockets, [])
  })

  test('serves health alone on one port, and pods and metrics too on the other', async () => {
    const [healthzPort, readOnlyPort] = [await findPort(), await findPort()]
    let problem: string | undefined
    const servers = await run({ healthzPort, readOnlyPort }, () => problem)
    await untilListening(servers, 2)
    assert.deepEqual(await get(healthzPort, '/healthz'), [200, 'ok'])
    assert.equal((await get(healthzPort, '/metrics'))[0], 404)
    assert.equal((await get(healthzPort, '/pods'))[0], 404)
    assert.deepEqual(await get(readOnlyPort, '/metrics'), [200, 'up 1\n'])
    const [status, body] = await get(readOnlyPort, '/pods')
    assert.equal(status, 200)
    assert.deepEqual(
      (JSON.parse(body) as { items: { metadata: { name: string }; status: { phase: string } }[] }).items.map((item) => [
        item.metadata.name,
        item.status.phase,
      ]),
      [['web', 'Running']],
    )
    assert.deepEqual(
      [await statusFor(readOnlyPort, 'evil.example'), await statusFor(readOnlyPort, 'node-1')],
      [421, 200],
    )
    problem = 'no relist of the runtime was tried'
    assert.equal((await get(healthzPort, '/healthz'))[0], 500)
    servers.leave()
    await servers.running
  })

  test('answers health checks, or has tried to, before anything is loaded for the API', async () => {
    const [port, healthzPort] = [await findPort(), await findPort()]
    const first = await run({ ...OPEN, port, healthzPort, readOnlyPort: 0 }, () => undefined, {})
    await untilListening(first, 2)
    // The port of the first one is taken.
    const second = await run({ ...OPEN, port: await findPort(), healthzPort, readOnlyPort: 0 }, () => undefined, {})
    await untilListening(second, 1)
    for (const { steps, leave, running } of [first, second]) {
      assert.deepEqual(steps, ['answering', 'load the API'])
      leave()
      await running.catch(() => {})
    }
  })

  test('serves the API over TLS, with all that others bring, and the read-only part of it in the clear', async () => {
    const [port, readOnlyPort] = [await findPort(), await findPort()]
    const handle: Route['handle'] = async (_, response) => void response.end('here')
    const containers: readonly Route[] = [
      { path: '/exec/:namespace/:pod/:container', methods: ['GET'], handle },
      { path: '/checkpoint/:namespace/:pod/:container', methods: ['GET'], handle },
    ]
    const stats: readonly Route[] = [{ path: '/stats/summary', methods: ['GET'], handle }]
    const fields = { ...OPEN, port, readOnlyPort, healthzPort: 0 }
    const servers = await run(fields, () => undefined, { containers }, stats)
    await untilListening(servers, 2)
    const rows: readonly (readonly [string, number, number])[] = [
      ['/healthz', 200, 200],
      ['/healthz/device-plugin', 200, 200],
      ['/pods', 200, 200],
      ['/metrics', 200, 200],
      ['/stats/summary', 200, 200],
      ['/exec/n/p/c', 200, 405],
      ['/checkpoint/n/p/c', 200, 404],
      ['/runningpods/', 200, 405],
      ['/configz', 200, 404],
      ['/flagz', 200, 404],
      ['/statusz', 200, 404],
      ['/debug/pprof/cmdline', 200, 405],
      ['/debug/flags/v', 406, 404],
    ]
    for (const [path, secure, plain] of rows)
      assert.deepEqual(
        [path, (await getSecurely(port, path))[0], (await get(readOnlyPort, path))[0]],
        [path, secure, plain],
      )
    const { kubeletconfig } = JSON.parse((await getSecurely(port, '/configz'))[1]) as {
      kubeletconfig: { port: number }
    }
    assert.equal(kubeletconfig.port, port)
    servers.leave()
    await servers.running
  })

  test('serves only what is switched on', async () => {
    const rows: readonly (readonly [object, string, number, RegExp])[] = [
      [{ enableDebuggingHandlers: false }, '/exec/n/p/c', 405, /^Debug endpoints are disabled.$/m],
      [{ enableDebuggingHandlers: false }, '/configz', 404, /./],
      [{ enableSystemLogHandler: false }, '/logs/', 405, /^logs endpoint is disabled.$/m],
      [{ enableProfilingHandler: false }, '/debug/pprof/heap', 405, /disabled/],
      [{ enableDebugFlagsHandler: false }, '/debug/flags/v', 405, /disabled/],
      [{ featureGates: { ComponentFlagz: false, ComponentStatusz: false } }, '/flagz', 404, /./],
    ]
    for (const [fields, path, status, text] of rows) {
      const port = await findPort()
      const servers = await run({ ...OPEN, port, healthzPort: 0, ...fields }, () => undefined, {})
      await untilListening(servers, 1)
      const [code, body] = await getSecurely(port, path)
      assert.equal(code, status, path)
      assert.match(body, text)
      servers.leave()
      await servers.running
    }
    const off = await run({ ...OPEN, enableServer: false, healthzPort: 0 }, () => undefined, {})
    await untilListening({ listening: off.sockets }, 1)
    off.leave()
    await off.running
    assert.deepEqual(off.listening, [])
  })

  test('fails when the read-only port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    try {
      const { running } = await run({ healthzPort: 0, readOnlyPort: port })
      await assert.rejects(running, (error: Error) => {
        const cause = error.cause as Error
        assert.match(cause.message, /Cannot serve read-only/)
        return true
      })
    } finally {
      taken.close()
    }
  })
})
