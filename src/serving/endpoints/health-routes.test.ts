import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { createHealthRoutes } from './health-routes.ts'

test('createHealthRoutes() shows whether all is healthy, and at its own path what is not', async (t) => {
  let problem: string | undefined
  const checked: string[] = []
  const ask = await serveRoutes(
    t,
    createHealthRoutes({
      checks: { ping: () => undefined, syncloop: () => problem },
      onChecked: (name, isHealthy) => checked.push(`${name} ${isHealthy}`),
    }),
  )
  assert.deepEqual(await reported(ask('/healthz')), [200, 'ok'])
  assert.deepEqual(await reported(ask('/healthz', { method: 'POST' })), [200, 'ok'])
  assert.deepEqual(await reported(ask('/healthz?verbose')), [200, '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n'])
  problem = 'stuck'
  assert.deepEqual(await reported(ask('/healthz')), [
    500,
    '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
  ])
  assert.deepEqual(await reported(ask('/healthz/syncloop')), [500, 'internal server error: stuck\n'])
  assert.deepEqual(await reported(ask('/healthz/ping')), [200, 'ok'])
  assert.deepEqual(checked.slice(-4), ['ping true', 'syncloop false', 'syncloop false', 'ping true'])
  assert.deepEqual(await reported(ask('/healthz?exclude=syncloop')), [200, 'ok'])
  assert.deepEqual(await reported(ask('/healthz?exclude=syncloop&exclude=x&verbose')), [
    200,
    '[+]ping ok\n[+]syncloop excluded: ok\nwarn: there is no check "x" to exclude\nhealthz check passed\n',
  ])
})
