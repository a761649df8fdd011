import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../test/fakes/silent-logger.ts'
import { createHealthRoutes } from './health-routes.ts'
import { createPodsRoute } from './pods-route.ts'
import { plain, runHttpServer } from './run-http-server.ts'
import type { Routes } from './run-http-server.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function serve(t: TestContext, routes: Routes) {
  const port = await freePort()
  const controller = new AbortController()
  const listening = Promise.withResolvers<void>()
  const running = runHttpServer(
    {
      name: 'test',
      address: '127.0.0.1',
      port,
      routes,
      log: silentLogger,
      clock: new FakeClock(),
      onListening: listening.resolve,
    },
    controller.signal,
  )
  t.after(async () => {
    controller.abort(new Error('done'))
    await running
  })
  await listening.promise
  return (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method })
}

test('runHttpServer() answers known paths, and says no to the rest', async (t) => {
  const ask = await serve(t, {
    '/a': (query) => plain(200, `a ${query.get('q')}`),
    '/bad': () => {
      throw new Error('secret detail')
    },
  })
  const rows = await Promise.all(
    (
      [
        ['/a?q=1', 'GET'],
        ['/a/', 'HEAD'],
        ['/a', 'POST'],
        ['/b', 'GET'],
        ['/__proto__', 'GET'],
        ['/bad', 'GET'],
      ] as const
    ).map(async ([path, method]) => {
      const response = await ask(path, method)
      return [path, response.status, await response.text()]
    }),
  )
  assert.deepEqual(rows, [
    ['/a?q=1', 200, 'a 1'],
    ['/a/', 200, ''],
    ['/a', 405, '405 method not allowed\n'],
    ['/b', 404, '404 page not found\n'],
    ['/__proto__', 404, '404 page not found\n'],
    ['/bad', 500, 'internal error, see the log of the agent\n'],
  ])
})

test('createHealthRoutes() names the check that fails', async (t) => {
  let problem: string | undefined
  const ask = await serve(t, createHealthRoutes({ ping: () => undefined, syncloop: () => problem }))
  assert.equal(await (await ask('/healthz')).text(), 'ok')
  assert.equal(await (await ask('/healthz?verbose')).text(), '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n')
  problem = 'stuck'
  const failed = await ask('/healthz')
  assert.deepEqual(
    [failed.status, await failed.text()],
    [500, '[+]ping ok\n[-]syncloop failed: stuck\nhealthz check failed\n'],
  )
  assert.equal((await ask('/healthz/ping')).status, 200)
})

test('createPodsRoute() lists pods with their newest status', async (t) => {
  const pod = { metadata: { name: 'a', namespace: 'b', uid: 'u' }, spec: { containers: [] } } as never
  let phase = 'Pending'
  const ask = await serve(t, { '/pods': createPodsRoute(() => [{ pod, status: { phase } }]) })
  const read = async () =>
    ((await (await ask('/pods')).json()) as { items: { status: { phase: string } }[] }).items.map(
      ({ status }) => status.phase,
    )
  assert.deepEqual(await read(), ['Pending'])
  phase = 'Running'
  assert.deepEqual(await read(), ['Running'])
})
