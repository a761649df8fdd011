import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { Route } from './route.ts'
import { runPlainServer } from './run-plain-server.ts'
import { sendText } from './send-answer.ts'

const routes: readonly Route[] = [
  {
    path: '/a',
    methods: ['GET'],
    handle: async ({ query }, response) => sendText(response, 200, `a ${query.get('q')}`),
  },
  {
    path: '/bad',
    methods: 'any',
    handle: async () => {
      throw new Error('secret detail')
    },
  },
  { path: '/silent', methods: 'any', handle: async () => {} },
]

test('runPlainServer() answers known paths, and says no to the rest', async (t) => {
  const ask = await serveRoutes(t, routes)
  const rows: readonly (readonly [string, string, number, string])[] = [
    ['/a?q=1', 'GET', 200, 'a 1'],
    ['/a/', 'GET', 200, 'a null'],
    ['/a', 'POST', 405, '405: Method Not Allowed\n'],
    ['/b', 'GET', 404, '404 page not found\n'],
    ['/a/b', 'GET', 404, '404 page not found\n'],
    ['/__proto__', 'GET', 404, '404 page not found\n'],
    ['/a%2fb', 'GET', 404, '404 page not found\n'],
    ['/%zz', 'GET', 404, '404 page not found\n'],
    ['/bad', 'GET', 500, 'internal error, see the log of the agent\n'],
    ['/silent', 'GET', 200, ''],
  ]
  for (const [path, method, ...answer] of rows) assert.deepEqual(await reported(ask(path, { method })), answer, path)
})

const metrics = { requestStarted() {}, requestEnded() {} }

test('runPlainServer() tries a port again that is taken, where that is wanted', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const clock = new FakeClock()
  const stop = new AbortController()
  const listening = Promise.withResolvers<number>()
  const limits = { all: 10, replaceable: 10 }
  const base = { name: 'x', address: '127.0.0.1', port, routes, metrics, limits, log: silentLogger, clock }
  await assert.rejects(runPlainServer(base, stop.signal), new RegExp(`Cannot serve x on 127.0.0.1:${port}`))
  const running = runPlainServer({ ...base, bindRetryMs: 5000, onListening: listening.resolve }, stop.signal)
  while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve))
  taken.close()
  await once(taken, 'close')
  await clock.advance(5000)
  assert.equal(await listening.promise, port)
  stop.abort(new Error('done'))
  await running
})
