import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { until } from '../../../test/fakes/until.ts'
import { createProfiler } from '../../base/telemetry/profiler.ts'
import { createProfilingRoutes } from './profiling-routes.ts'

test('createProfilingRoutes() takes profiles of this process, one at a time', async (t) => {
  const clock = new FakeClock()
  const profiler = createProfiler(clock)
  const ask = await serveRoutes(
    t,
    createProfilingRoutes({ profiler, contention: false, commandLine: ['kubelet', '--v=2'] }),
  )
  const taken = reported(ask('/debug/pprof/profile?seconds=30'))
  await until(() => clock.sleeping === 1)
  const why = 'Cannot take a profile: another one is being taken, ask again when it has ended\n'
  assert.deepEqual(await reported(ask('/debug/pprof/heap?seconds=30')), [409, why])
  await clock.advance(30_000)
  const [status, body] = await taken
  assert.ok(status === 200 && Object.hasOwn(JSON.parse(body) as object, 'nodes'), body)
  const heapTaken = reported(ask('/debug/pprof/heap?seconds=30'))
  await until(() => clock.sleeping === 1)
  await clock.advance(30_000)
  const [heapStatus, heap] = await heapTaken
  assert.deepEqual([heapStatus, Object.keys(JSON.parse(heap) as object)], [200, ['head', 'samples']])
  assert.deepEqual(await reported(ask('/debug/pprof/cmdline')), [200, 'kubelet\0--v=2'])
  const list = '/debug/pprof/profile\n/debug/pprof/heap\n/debug/pprof/cmdline\n'
  for (const path of ['/debug/pprof', '/debug/pprof/']) assert.deepEqual(await reported(ask(path)), [200, list])
  assert.equal((await ask('/debug/pprof/goroutine')).status, 404)
  assert.deepEqual(await reported(ask('/debug/pprof/block')), [
    404,
    'no such profile, there are: profile, heap, cmdline\n',
  ])
  for (const seconds of ['0', '-1', 'x', '601', ''])
    assert.equal((await ask(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds)
})

test('createProfilingRoutes() shows how long the event loop was blocked, where that is enabled', async (t) => {
  const clock = new FakeClock()
  const routes = createProfilingRoutes({ profiler: createProfiler(clock), contention: true, commandLine: [] })
  const ask = await serveRoutes(t, routes)
  const asked = reported(ask('/debug/pprof/block?seconds=30'))
  await until(() => clock.sleeping === 1)
  // The measure begins with its first tick, and reports a delay with the one after it.
  await setTimeout(20)
  for (const end = performance.now() + 60; performance.now() < end;);
  await setTimeout(20)
  await clock.advance(30_000)
  const [status, body] = await asked
  const { eventLoopDelaySeconds } = JSON.parse(body) as { eventLoopDelaySeconds: { max: number } }
  assert.ok(status === 200 && eventLoopDelaySeconds.max >= 0.05, body)
})
