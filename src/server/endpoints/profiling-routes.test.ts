import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, told } from '../../../test/fakes/serve-routes.ts'
import { systemClock } from '../../async/clock.ts'
import { createProfiler } from '../../telemetry/profiler.ts'
import { createProfilingRoutes } from './profiling-routes.ts'

test('createProfilingRoutes() takes profiles of this process, one at a time', async (t) => {
  const profiler = createProfiler(systemClock)
  const ask = await serveRoutes(t, createProfilingRoutes({ profiler, commandLine: ['kubelet', '--v=2'] }))
  const both = await Promise.all(['profile', 'heap'].map((name) => told(ask(`/debug/pprof/${name}?seconds=0.05`))))
  const [[status, body] = [0, ''], [busy] = [0]] = both.sort(([a], [b]) => a - b)
  assert.deepEqual([status, busy], [200, 500])
  assert.ok(['nodes', 'head'].some((name) => Object.hasOwn(JSON.parse(body) as object, name)))
  const [heapStatus, heap] = await told(ask('/debug/pprof/heap?seconds=0.01'))
  assert.deepEqual([heapStatus, Object.keys(JSON.parse(heap) as object)], [200, ['head', 'samples']])
  assert.deepEqual(await told(ask('/debug/pprof/cmdline')), [200, 'kubelet\0--v=2'])
  assert.equal((await ask('/debug/pprof/goroutine')).status, 404)
  for (const seconds of ['0', '-1', 'x', '601', ''])
    assert.equal((await ask(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds)
})
