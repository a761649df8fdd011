import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, told } from '../../../test/fakes/serve-routes.ts'
import { systemClock } from '../../async/clock.ts'
import { createProfiler } from '../../telemetry/profiler.ts'
import { createProfilingRoutes } from './profiling-routes.ts'

test('createProfilingRoutes() takes profiles of this process, one at a time', async (t) => {
  const profiler = createProfiler(systemClock)
  const ask = await serveRoutes(
    t,
    createProfilingRoutes({ profiler, contention: false, commandLine: ['kubelet', '--v=2'] }),
  )
  const both = await Promise.all(['profile', 'heap'].map((name) => told(ask(`/debug/pprof/${name}?seconds=0.05`))))
  const [[status, body] = [0, ''], [busy, why] = [0, '']] = both.sort(([a], [b]) => a - b)
  assert.deepEqual(
    [status, busy, why],
    [200, 409, 'Cannot take a profile: another one is being taken, ask again when it has ended\n'],
  )
  assert.ok(['nodes', 'head'].some((name) => Object.hasOwn(JSON.parse(body) as object, name)))
  const [heapStatus, heap] = await told(ask('/debug/pprof/heap?seconds=0.01'))
  assert.deepEqual([heapStatus, Object.keys(JSON.parse(heap) as object)], [200, ['head', 'samples']])
  assert.deepEqual(await told(ask('/debug/pprof/cmdline')), [200, 'kubelet\0--v=2'])
  const list = '/debug/pprof/profile\n/debug/pprof/heap\n/debug/pprof/cmdline\n'
  for (const path of ['/debug/pprof', '/debug/pprof/']) assert.deepEqual(await told(ask(path)), [200, list])
  assert.equal((await ask('/debug/pprof/goroutine')).status, 404)
  assert.deepEqual(await told(ask('/debug/pprof/block')), [404, 'no such profile, there are: profile, heap, cmdline\n'])
  for (const seconds of ['0', '-1', 'x', '601', ''])
    assert.equal((await ask(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds)
})

test('createProfilingRoutes() tells how long the event loop was held up, where that is wanted', async (t) => {
  const routes = createProfilingRoutes({ profiler: createProfiler(systemClock), contention: true, commandLine: [] })
  const ask = await serveRoutes(t, routes)
  const asked = told(ask('/debug/pprof/block?seconds=0.2'))
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (const end = performance.now() + 60; performance.now() < end;);
  const [status, body] = await asked
  const { eventLoopDelaySeconds } = JSON.parse(body) as { eventLoopDelaySeconds: { max: number } }
  assert.ok(status === 200 && eventLoopDelaySeconds.max >= 0.05, body)
})
