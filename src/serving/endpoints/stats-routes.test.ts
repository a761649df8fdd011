import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeStatsWorld, statsMachine } from '../../../test/fakes/fake-stats-world.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { parseExposition } from '../../../test/fixtures/parse-exposition.ts'
import { StatsEngine } from '../../node/stats/stats-engine.ts'
import { createStatsRoutes } from './stats-routes.ts'

/** The routes on a port; the router and the checks before it are not part of this. */
async function serve(t: TestContext) {
  const world = new FakeStatsWorld()
  const { signal } = new AbortController()
  const engine = new StatsEngine(world.deps, signal)
  const routes = createStatsRoutes({
    engine,
    nodeName: 'node-1',
    showHidden: false,
    machine: statsMachine,
    log: silentLogger,
  })
  const server = createServer((raw, response) => {
    const url = new URL(raw.url ?? '/', 'http://node')
    const route = routes.find(({ path }) => path === url.pathname)
    const request = { raw, parameters: {}, query: url.searchParams, caller: { name: 'me', groups: [] }, signal }
    route?.handle(request, response).catch(() => response.writeHead(500).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init)
  return { world, get, routes }
}

describe('createStatsRoutes()', () => {
  test('serves the summary, indented by one blank', async (t) => {
    const { get, routes } = await serve(t)
    const reply = await get('/stats/summary')
    const text = await reply.text()
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
    assert.equal(text.startsWith('{\n "node": {\n  "nodeName": "node-1",\n  "systemContainers": ['), true)
    assert.deepEqual(
      routes.map(({ path, methods }) => [path, methods]),
      [
        ['/stats/summary', ['GET', 'POST']],
        ['/stats/history', ['GET']],
        ['/metrics/resource', 'any'],
        ['/metrics/cadvisor', 'any'],
      ],
    )
  })

  test('collects again for a client that asks for that, but not all the time', async (t) => {
    const { world, get } = await serve(t)
    const timeOf = async (cacheControl?: string) => {
      const headers: Record<string, string> = cacheControl === undefined ? {} : { 'cache-control': cacheControl }
      const text = await (await get('/metrics/resource', { headers })).text()
      return Number(/^node_cpu_usage_seconds_total \S+ (\d+)$/m.exec(text)?.[1])
    }
    const first = await timeOf()
    await world.clock.advance(1000)
    assert.equal(await timeOf(), first)
    assert.equal(await timeOf('no-cache, max-age=5'), first)
    assert.equal(await timeOf('max-age=0'), first + 1000)
    await world.clock.advance(400)
    assert.equal(await timeOf('max-age=0'), first + 1000)
  })

  test('collects only what is asked for', async (t) => {
    const { world, get } = await serve(t)
    const reply = await get('/stats/summary?only_cpu_and_memory=true', { method: 'POST', body: 'x' })
    const { pods } = (await reply.json()) as { pods: { network?: unknown }[] }
    assert.deepEqual([pods.length, pods[0]?.network, world.take()], [1, undefined, ['statfs /root']])
    await (await get('/metrics/resource')).text()
    assert.deepEqual(world.take(), [])
    await (await get('/stats/summary')).text()
    assert.equal(world.take().includes('layers'), true)
  })

  test('gives CPU and memory as they are now, and measures no disk and no network for that', async (t) => {
    const { world, get } = await serve(t)
    const latest = async () =>
      (await (await get('/stats/history?latest=true')).json()) as {
        readonly times: readonly number[]
        readonly node: { readonly memoryBytes: readonly (number | null)[] }
        readonly pods: Readonly<Record<string, { readonly memoryBytes: readonly (number | null)[] }>>
      }
    const { times, node, pods } = await latest()
    assert.deepEqual([times.length, node.memoryBytes.length, typeof node.memoryBytes[0]], [1, 1, 'number'])
    assert.deepEqual(
      Object.keys(pods),
      world.pods.map(({ uid }) => uid),
    )
    assert.equal(world.take().includes('layers'), false)
  })

  test('shows what was measured in the last hour, and measures nothing for that', async (t) => {
    const { world, get } = await serve(t)
    const read = async () =>
      (await (await get('/stats/history')).json()) as {
        readonly times: readonly number[]
        readonly node: { readonly memoryBytes: readonly number[] }
        readonly pods: Readonly<Record<string, { readonly cpuCores: readonly (number | null)[] }>>
      }
    assert.deepEqual([(await read()).times, world.take()], [[], []])
    await (await get('/metrics/resource')).text()
    await world.clock.advance(30_000)
    await (await get('/metrics/resource')).text()
    world.take()
    const { times, node, pods } = await read()
    assert.deepEqual([times.map((time) => time - (times[0] ?? 0)), node.memoryBytes.length], [[0, 30_000], 2])
    assert.deepEqual(
      Object.keys(pods),
      world.pods.map(({ uid }) => uid),
    )
    assert.deepEqual(world.take(), [])
  })

  for (const path of ['/metrics/resource', '/metrics/cadvisor'])
    test(`serves ${path} in the forms that scrapers ask for, packed for those who like that`, async (t) => {
      const { get } = await serve(t)
      const plain = await get(path, { headers: { 'accept-encoding': 'identity' } })
      const text = await plain.text()
      assert.equal(plain.headers.get('content-encoding'), null)
      assert.equal(parseExposition(text).length > 10, true)
      const packed = await get(path, { headers: { 'accept-encoding': 'gzip' } })
      assert.deepEqual([packed.headers.get('content-encoding'), await packed.text()], ['gzip', text])
      const refused = await get(path, { headers: { 'accept-encoding': 'gzip;q=0' } })
      assert.deepEqual([refused.headers.get('content-encoding'), await refused.text()], [null, text])
      const open = await get(path, { headers: { accept: 'application/openmetrics-text; version=1.0.0' } })
      assert.equal(open.headers.get('content-type'), 'application/openmetrics-text; version=1.0.0; charset=utf-8')
      assert.equal(parseExposition(await open.text(), 'openMetrics').length > 10, true)
    })

  test('reports to scrapers that nothing can be collected, and fails a summary', async (t) => {
    const { world, get } = await serve(t)
    world.failing = 'statfs'
    const text = await (await get('/metrics/resource')).text()
    assert.deepEqual(parseExposition(text)[0]?.samples[0]?.value, 1)
    assert.equal((await get('/stats/summary')).status, 500)
  })
})
