import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { serveRoutes } from '../../../test/fakes/serve-routes.ts'
import { createLogger, createVerbosity } from '../../base/telemetry/create-logger.ts'
import { createDebugFlagsRoute } from './debug-flags-route.ts'

test('createDebugFlagsRoute() changes how much is logged, also by loggers that are there', async (t) => {
  const verbosity = createVerbosity(2)
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const log = createLogger({ format: 'text', verbosity, clock: new FakeClock(), pid: 1, write }).child({ pod: 'a' })
  const ask = await serveRoutes(t, [createDebugFlagsRoute(verbosity)])
  const put = async (body: string) => (await ask('/debug/flags/v', { method: 'PUT', body })).status
  log.debug('x')
  assert.deepEqual([await put('4\n'), verbosity.get()], [200, 4])
  log.debug('y')
  assert.equal(lines.length, 1)
  for (const text of ['', '-1', 'x', '1.5', '99999999999', '1'.repeat(100_000)])
    assert.equal(await put(text), 400, text.slice(0, 20))
  assert.equal((await ask('/debug/flags/v')).status, 406)
  assert.equal(verbosity.get(), 4)
})
