import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { createMetricsRoute, createSlisRoute } from './metrics-routes.ts'

test('createMetricsRoute() answers in the format that is asked for, packed when that is taken', async (t) => {
  const render = async (format: string) => ({ type: `text/${format}`, body: format.repeat(1000) })
  const ask = await serveRoutes(t, [createMetricsRoute('/metrics', render)])
  const rows: readonly (readonly [Readonly<Record<string, string>>, string, string | null])[] = [
    [{}, 'text', null],
    [{ accept: 'application/openmetrics-text;version=1.0.0' }, 'openMetrics', null],
    [{ accept: 'text/plain;q=0.5, application/openmetrics-text;version=1.0.0;q=0.8' }, 'openMetrics', null],
    [{ accept: 'application/vnd.google.protobuf;q=0.9, text/plain;q=0.5' }, 'text', null],
    [{ accept: 'image/png' }, 'text', null],
    [{ 'accept-encoding': 'gzip' }, 'text', 'gzip'],
    [{ 'accept-encoding': 'gzip;q=0, br' }, 'text', null],
  ]
  for (const [headers, format, encoding] of rows) {
    const response = await ask('/metrics', { headers: { 'accept-encoding': 'identity', ...headers } })
    assert.deepEqual(
      [response.headers.get('content-type'), response.headers.get('content-encoding'), await response.text()],
      [`text/${format}`, encoding, format.repeat(1000)],
      JSON.stringify(headers),
    )
  }
})

test('createSlisRoute() forgets on DELETE', async (t) => {
  let resets = 0
  const route = createSlisRoute(
    () => Promise.resolve({ type: 'text/plain', body: 'x' }),
    () => (resets += 1),
  )
  const ask = await serveRoutes(t, [route])
  assert.deepEqual(await reported(ask('/metrics/slis')), [200, 'x'])
  assert.deepEqual([(await ask('/metrics/slis', { method: 'DELETE' })).status, resets], [200, 1])
})
