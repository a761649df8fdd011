import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createKubeletRoutes } from '../../../src/serving/endpoints/create-kubelet-routes.ts'
import { createContainerLogsRoute } from '../../../src/serving/endpoints/logs/container-logs-route.ts'
import type { ContainerLogsDeps } from '../../../src/serving/endpoints/logs/container-logs-route.ts'
import { createStreamRoutes } from '../../../src/serving/endpoints/streams/stream-routes.ts'
import type { StreamRoutesDeps } from '../../../src/serving/endpoints/streams/stream-routes.ts'
import { createHealthRoutes } from '../../../src/serving/endpoints/health-routes.ts'
import { createMetricsRoute, createSlisRoute } from '../../../src/serving/endpoints/metrics-routes.ts'
import { createPodsRoute } from '../../../src/serving/endpoints/pods-routes.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { createImagesRoute } from '../../../src/serving/endpoints/images-route.ts'
import { createWhyRoute } from '../../../src/serving/endpoints/why-route.ts'
import type { Caller, Route } from '../../../src/serving/http/route.ts'
import { CLIENT_AUTH, SERVER_AUTH, createTestCertificate } from '../../builders/create-test-authority.ts'
import type { TestCertificate, TestCertificateContent } from '../../builders/create-test-authority.ts'
import { startKubeletServer } from './start-kubelet-server.ts'
import type { ServerUnderTest } from './start-kubelet-server.ts'

const HOUR_MS = 3_600_000

/** Answers as soon as it is reached, so that what is tested is the way there. */
function reached(path: string, methods: Route['methods']): Route {
  return {
    path,
    methods,
    handle: async (_, response) => void response.writeHead(200).end('reached'),
  }
}

// Only paths and methods; what the endpoints do is tested elsewhere.
const CONTAINER_ROUTES = [
  createContainerLogsRoute({} as ContainerLogsDeps),
  ...createStreamRoutes({ checkpoints: {} } as StreamRoutesDeps),
]

const render = () => Promise.resolve({ type: 'text/plain', body: '' })

/** All endpoints; those of other parts stand for themselves. */
function createRoutes(): readonly Route[] {
  return createKubeletRoutes({
    switches: {
      debugging: true,
      systemLogs: true,
      systemLogQuery: true,
      profiling: true,
      contention: true,
      debugFlags: true,
      checkpoint: true,
      flagz: true,
      statusz: true,
    },
    sharedRoutes: [
      ...createHealthRoutes({
        checks: { ping: () => undefined, log: () => undefined, syncloop: () => undefined },
        onChecked() {},
      }),
      createPodsRoute(() => []),
      createWhyRoute({ explain: () => [], refusedManifests: () => [], unusedFields: () => [], placesOf: () => [] }),
      createImagesRoute({ listImages: () => Promise.resolve([]), clock: systemClock }),
      createMetricsRoute('/metrics', render),
      createMetricsRoute('/metrics/probes', render),
      createSlisRoute(render, () => {}),
      reached('/stats/summary', ['GET', 'POST']),
      reached('/stats/history', ['GET']),
      reached('/metrics/cadvisor', 'any'),
      reached('/metrics/resource', 'any'),
    ],
    containers: CONTAINER_ROUTES.map(({ path, methods }) => reached(path, methods)),
    observed: () => [],
    configuration: () => ({}),
    flags: () => ({}),
    status: () => ({ startedAt: 0, uptimeSeconds: 1, platformVersion: 'n', version: 'v', emulatedVersion: 'v' }),
    logs: { open: (_, use) => use({ kind: 'directory', entries: [] }) },
    journal: { units: () => Promise.resolve(undefined), write: () => Promise.resolve(undefined) },
    verbosity: { get: () => 0, set() {} },
    profiler: {
      cpu: () => Promise.resolve('{}'),
      heap: () => Promise.resolve('{}'),
      block: () => Promise.resolve('{}'),
    },
    commandLine: [],
  })
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const
const ANY = [200, 200, 200, 200, 200, 200, 200]
const GET_ONLY = [200, 405, 405, 405, 405, 405, 405]
const GET_POST = [200, 200, 405, 405, 405, 405, 405]
const POST_ONLY = [405, 200, 405, 405, 405, 405, 405]
const NOTHING = [404, 404, 404, 404, 404, 404, 404]

/** For each endpoint: the status codes of an authorized client by method, and the part of the node that it needs the right to. */
const ENDPOINTS: readonly (readonly [path: string, codes: readonly number[], subresource: string])[] = [
  ['/healthz', ANY, 'healthz'],
  ['/healthz/ping', ANY, 'healthz'],
  ['/healthz/log', ANY, 'healthz'],
  ['/healthz/syncloop', ANY, 'healthz'],
  ['/healthz/other', NOTHING, 'healthz'],
  ['/pods', GET_ONLY, 'pods'],
  ['/pods/', GET_ONLY, 'pods'],
  ['/runningpods', GET_ONLY, 'pods'],
  ['/runningpods/', GET_ONLY, 'pods'],
  ['/why', GET_ONLY, 'proxy'],
  ['/why/images', GET_ONLY, 'proxy'],
  ['/stats/summary', GET_POST, 'stats'],
  ['/stats/history', GET_ONLY, 'stats'],
  ['/stats', NOTHING, 'stats'],
  ['/metrics', ANY, 'metrics'],
  ['/metrics/cadvisor', ANY, 'metrics'],
  ['/metrics/resource', ANY, 'metrics'],
  ['/metrics/probes', ANY, 'metrics'],
  ['/metrics/slis', ANY, 'metrics'],
  ['/metrics/other', NOTHING, 'metrics'],
  ['/configz', ANY, 'configz'],
  ['/containerLogs/n/p/c', GET_ONLY, 'proxy'],
  ['/exec/n/p/c', GET_POST, 'proxy'],
  ['/exec/n/p/u/c', GET_POST, 'proxy'],
  ['/exec', NOTHING, 'proxy'],
  ['/exec/n/p/u/c/more', NOTHING, 'proxy'],
  ['/attach/n/p/c', GET_POST, 'proxy'],
  ['/attach/n/p/u/c', GET_POST, 'proxy'],
  ['/portForward/n/p', GET_POST, 'proxy'],
  ['/portForward/n/p/u', GET_POST, 'proxy'],
  ['/run/n/p/c', POST_ONLY, 'proxy'],
  ['/run/n/p/u/c', POST_ONLY, 'proxy'],
  ['/checkpoint/n/p/c', POST_ONLY, 'checkpoint'],
  ['/logs', GET_ONLY, 'log'],
  ['/logs/', GET_ONLY, 'log'],
  ['/logs/some/file', GET_ONLY, 'log'],
  ['/debug', NOTHING, 'proxy'],
  ['/debug/other', NOTHING, 'proxy'],
  ['/debug/pprof', GET_ONLY, 'proxy'],
  ['/debug/pprof/', GET_ONLY, 'proxy'],
  ['/debug/pprof/heap', GET_ONLY, 'proxy'],
  ['/debug/pprof/profile', GET_ONLY, 'proxy'],
  ['/debug/pprof/block', GET_ONLY, 'proxy'],
  ['/debug/pprof/cmdline', GET_ONLY, 'proxy'],
  ['/debug/pprof/unheard-of', [404, 405, 405, 405, 405, 405, 405], 'proxy'],
  ['/debug/flags/v', [406, 406, 400, 406, 406, 406, 406], 'proxy'],
  ['/flagz', ANY, 'configz'],
  ['/statusz', ANY, 'statusz'],
]

/** Paths that do not exist; that too is reported only to authorized clients. */
const UNREGISTERED = ['/', '/other', '/healthzz', '/readyz', '/spec', '/cri', '//pods']

async function createClient(by: TestCertificate, change: TestCertificateContent = {}): Promise<TestCertificate> {
  const subject = [{ O: ['ops'] }, { CN: ['jane'] }]
  return await createTestCertificate({ subject, issuer: by, usages: [CLIENT_AUTH], ...change })
}

interface Credentials {
  readonly cert?: string
  readonly key?: string
}

function show({ certificatePem, keyPem }: TestCertificate, more = ''): Credentials {
  return { cert: `${certificatePem}${more}`, key: keyPem }
}

/** Asks for everything with every method; gives what differs from what is expected, and whatever redirects. */
async function sweep(
  server: ServerUnderTest,
  expected: (method: number, row: (typeof ENDPOINTS)[number]) => number,
  credentials: Credentials = {},
): Promise<string[]> {
  const rows = [...ENDPOINTS, ...UNREGISTERED.map((path) => [path, NOTHING, 'proxy'] as const)]
  // Few connections for many requests: handshakes are not what is tested here.
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const problems = await Promise.all(
    rows.flatMap((row) =>
      METHODS.map(async (method, index) => {
        const [path] = row
        const { status, headers } = await server.ask(path, { method, agent, ...credentials })
        const wanted = expected(index, row)
        const isFine = status === wanted && headers['location'] === undefined
        return isFine ? [] : [`${method} ${path}: ${status} instead of ${wanted}`]
      }),
    ),
  )
  agent.destroy()
  return problems.flat()
}

async function start(t: TestContext, isAllowed?: (caller: Caller, question: { subresource: string }) => boolean) {
  return await startKubeletServer(t, { routes: createRoutes(), ...(isAllowed === undefined ? {} : { isAllowed }) })
}

describe('every endpoint with every method', () => {
  test('refuses a client without credentials, before it says what is there', async (t) => {
    assert.deepEqual(await sweep(await start(t), () => 401), [])
  })

  test('answers an authorized client', async (t) => {
    const server = await start(t)
    const client = await createClient(server.authority)
    assert.deepEqual(await sweep(server, (method, [, codes]) => codes[method] ?? 0, show(client)), [])
  })

  test('refuses a client with other rights, before it says what is there', async (t) => {
    const server = await start(t, () => false)
    const client = await createClient(server.authority)
    assert.deepEqual(await sweep(server, () => 403, show(client)), [])
  })

  test('needs the right to its own part of the node and to no other', async (t) => {
    let asked: string[] = []
    const server = await start(t, (_, { subresource }) => {
      asked.push(subresource)
      return false
    })
    const credentials = show(await createClient(server.authority))
    for (const [path, , subresource] of ENDPOINTS) {
      asked = []
      await server.ask(path, credentials)
      const all =
        ['pods', 'healthz'].includes(subresource) || path === '/configz' ? [subresource, 'proxy'] : [subresource]
      assert.deepEqual([path, asked], [path, all])
    }
  })
})

describe('a client certificate', () => {
  const later = Date.now() + HOUR_MS
  const earlier = Date.now() - HOUR_MS
  type Make = (authority: TestCertificate) => Promise<Credentials>
  const bad: readonly (readonly [name: string, make: Make])[] = [
    ['that has expired', async (ca) => show(await createClient(ca, { from: earlier - 1, until: earlier }))],
    ['that is not valid yet', async (ca) => show(await createClient(ca, { from: later, until: later + HOUR_MS }))],
    [
      'of another authority of the same name',
      async () =>
        show(await createClient(await createTestCertificate({ subject: [{ CN: ['ca'] }], isAuthority: true }))),
    ],
    ['with a SHA-1 signature', async (ca) => show(await createClient(ca, { hash: 'SHA-1' }))],
    [
      'with an unknown critical extension',
      async (ca) => show(await createClient(ca, { criticalExtension: '1.3.6.1.4.1.57683.99' })),
    ],
    ['for servers', async (ca) => show(await createClient(ca, { usages: [SERVER_AUTH] }))],
    ['without a name', async (ca) => show(await createClient(ca, { subject: [{ O: ['ops'] }] }))],
    ['that signed itself', async () => show(await createClient(undefined as never, { issuer: undefined }))],
    [
      'whose intermediate is missing',
      async (ca) => {
        const between = await createTestCertificate({ subject: [{ CN: ['between'] }], issuer: ca, isAuthority: true })
        return show(await createClient(between))
      },
    ],
    [
      'signed by one that may not sign',
      async (ca) => {
        const between = await createClient(ca)
        return show(await createClient(between), between.certificatePem)
      },
    ],
    [
      'whose intermediate has expired',
      async (ca) => {
        const past = { from: earlier - 1, until: earlier }
        const subject = [{ CN: ['between'] }]
        const between = await createTestCertificate({ subject, issuer: ca, isAuthority: true, ...past })
        return show(await createClient(between), between.certificatePem)
      },
    ],
  ]
  for (const [name, make] of bad) {
    test(`${name} opens nothing`, async (t) => {
      const server = await start(t)
      const credentials = await make(server.authority)
      assert.deepEqual(await sweep(server, () => 401, credentials), [])
    })
  }

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`of another authority of the same name is rejected with the reason each time, also over ${version}`, async (t) => {
      const server = await start(t)
      const same = await createTestCertificate({ subject: [{ CN: ['ca'] }], isAuthority: true })
      const [bad, good] = [show(await createClient(same)), show(await createClient(server.authority))]
      const options = { minVersion: version, maxVersion: version }
      for (let round = 0; round < 10; round += 1) {
        assert.equal((await server.ask('/pods', { ...bad, ...options })).status, 401)
        assert.equal((await server.ask('/pods', { ...good, ...options })).status, 200)
      }
    })
  }

  test('is good with its intermediate, and without any usage', async (t) => {
    const server = await start(t)
    const between = await createTestCertificate({
      subject: [{ CN: ['between'] }],
      issuer: server.authority,
      isAuthority: true,
    })
    const chained = show(await createClient(between), between.certificatePem)
    const plain = show(await createClient(server.authority, { usages: undefined }))
    assert.equal((await server.ask('/healthz', chained)).status, 200)
    assert.equal((await server.ask('/healthz', plain)).status, 200)
  })

  test('says who it is: name, groups, uid and the certificate itself', async (t) => {
    let seen: Caller | undefined
    const server = await start(t, (caller) => {
      seen = caller
      return true
    })
    const subject = [{ O: ['a'] }, { O: ['b'] }, { CN: ['jane'] }, { '1.3.6.1.4.1.57683.2': ['id-7'] }]
    await server.ask('/healthz', show(await createClient(server.authority, { subject })))
    const credential = seen?.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? ''
    assert.match(credential, /^X509SHA256=[0-9a-f]{64}$/)
    assert.deepEqual(seen, {
      name: 'jane',
      uid: 'id-7',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [credential] },
    })
  })

  test('says no uid where that is switched off', async (t) => {
    const uids: unknown[] = []
    const isAllowed = ({ uid }: Caller) => uids.push(uid) > 0
    const server = await startKubeletServer(t, { routes: createRoutes(), isAllowed, readsUid: false })
    const subject = [{ CN: ['jane'] }, { '1.3.6.1.4.1.57683.2': ['id-7'] }]
    await server.ask('/healthz', show(await createClient(server.authority, { subject })))
    assert.deepEqual(uids, [undefined])
  })

  test('that is bad does not become anonymous, and a good token makes up for it', async (t) => {
    const tokenUser = (token: string) => (token === 'good' ? 'bot' : undefined)
    const server = await startKubeletServer(t, { routes: createRoutes(), anonymous: true, tokenUser })
    const bad = show(await createClient(undefined as never, { issuer: undefined }))
    const codes = async (options: object) => (await server.ask('/pods', options)).status
    assert.deepEqual(
      [
        await codes({}),
        await codes(bad),
        await codes({ headers: { authorization: 'Bearer bad' } }),
        await codes({ ...bad, headers: { authorization: 'Bearer good' } }),
      ],
      [200, 401, 401, 200],
    )
  })

  test('is judged by the authorities of now, also on a connection from before', async (t) => {
    const server = await start(t)
    const client = await createClient(server.authority)
    const other = await createTestCertificate({ subject: [{ CN: ['other'] }], isAuthority: true })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const ask = async () => (await server.ask('/healthz', { ...show(client), agent })).status
    assert.equal(await ask(), 200)
    await server.trust(other.certificatePem)
    assert.equal(await ask(), 401)
    const known = show(await createClient(other))
    assert.equal((await server.ask('/healthz', known)).status, 200)
    await server.trust(`${server.authority.certificatePem}${other.certificatePem}`)
    assert.equal(await ask(), 200)
  })
})
